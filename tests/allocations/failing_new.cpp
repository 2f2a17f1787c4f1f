#include "failing_allocation.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

// For builds whose sanitizer replaces malloc: here only operator new fails.

namespace {

void* try_to_allocate(std::size_t bytes) noexcept {
    return telegate::test::allocation_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate(std::size_t bytes) {
    while (true) {
        void* const memory = try_to_allocate(bytes);
        if (memory != nullptr) {
            return memory;
        }
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) {
            throw std::bad_alloc();
        }
        handler();
    }
}

}  // namespace

void* operator new(std::size_t bytes) {
    return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
    return allocate(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    return try_to_allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    return try_to_allocate(bytes);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
