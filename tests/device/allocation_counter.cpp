#include "allocation_counter.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t allocation_count = 0;

}  // namespace

#if TELEGATE_SANITIZED
// A sanitizer intercepts its own operator new and reports each allocation here.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t),
                                                         void (*freed)(const volatile void*));
namespace {

const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++allocation_count; }, [](const volatile void*) {});

}  // namespace
#else
// These replace the operators of the library for the whole test program; the array forms call them. They must not be
// inlined: next to the library's new expressions, the compiler would report free() of memory that is not from malloc().
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocation_count;
    return std::malloc(bytes == 0 ? 1 : bytes);
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* memory = operator new(bytes, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

#endif

std::uint64_t telegate::test::allocations() noexcept {
    return allocation_count;
}
