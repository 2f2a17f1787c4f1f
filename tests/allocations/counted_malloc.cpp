#include "counted_malloc.hpp"

#include <atomic>
#include <cstddef>

// glibc's own functions behind malloc and its kin.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

std::atomic<std::uint64_t> calls{0};

}  // namespace

// These replace the C library's for the whole program, operator new included.
extern "C" {
void* malloc(std::size_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_memalign(alignment, bytes);
}
}

namespace telegate::test {

std::uint64_t allocations() noexcept {
    return calls;
}

}  // namespace telegate::test
