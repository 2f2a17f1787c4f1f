#include "counted_malloc.hpp"

#include <atomic>
#include <cstddef>

// glibc's implementations of malloc and related functions.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> alive{0};

void* counted(void* memory) noexcept {
    calls.fetch_add(1, std::memory_order_relaxed);
    alive.fetch_add(memory != nullptr ? 1 : 0, std::memory_order_relaxed);
    return memory;
}

}  // namespace

// These replace the functions of the C library for the whole program, including operator new.
extern "C" {
void* malloc(std::size_t bytes) {
    return counted(__libc_malloc(bytes));
}
void* calloc(std::size_t count, std::size_t bytes) {
    return counted(__libc_calloc(count, bytes));
}
void* realloc(void* memory, std::size_t bytes) {
    alive.fetch_sub(memory != nullptr ? 1 : 0, std::memory_order_relaxed);  // freed, or counted again below
    return counted(__libc_realloc(memory, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    constexpr int out_of_memory = 12;
    *memory = counted(__libc_memalign(alignment, bytes));
    return *memory != nullptr ? 0 : out_of_memory;
}
void free(void* memory) {
    alive.fetch_sub(memory != nullptr ? 1 : 0, std::memory_order_relaxed);
    __libc_free(memory);
}
}

namespace telegate::test {

std::uint64_t allocations() noexcept {
    return calls;
}

std::uint64_t allocations_alive() noexcept {
    return alive;
}

}  // namespace telegate::test
