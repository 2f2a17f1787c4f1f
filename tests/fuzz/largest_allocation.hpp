#pragma once

// Replaces operator new of the program, so that it is included once: a fuzz target compares largest_allocation with the
// limit of what it tests.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

/// Bytes of the largest single allocation since it was set to 0.
inline thread_local std::size_t largest_allocation = 0;

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    largest_allocation = std::max(largest_allocation, size);
    return std::malloc(std::max<std::size_t>(size, 1));
}
void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
