// Counts the allocations of a program that is linked with the shared C library and loads this library with LD_PRELOAD.
// The counts are in the file in TELEGATE_ALLOCATIONS, as three 64-bit numbers.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// The implementation of malloc() and related functions in glibc.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

/// The counters in a file that both processes map.
/// Threads: any, of both processes. Limits: none. Failure: none.
struct AllocationCounts {
    std::atomic<std::uint64_t> calls{0};  // of malloc() and related functions
    std::atomic<std::uint64_t> alive{0};  // not yet freed
    std::atomic<std::uint64_t> bytes_alive{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "two processes cannot share a lock");

constinit AllocationCounts before_mapping;  // until this library is initialized
constinit std::atomic<AllocationCounts*> counts{&before_mapping};

void* counted(void* memory) noexcept {
    AllocationCounts& now = *counts.load(std::memory_order_acquire);
    now.calls.fetch_add(1, std::memory_order_relaxed);
    if (memory != nullptr) {
        now.alive.fetch_add(1, std::memory_order_relaxed);
        now.bytes_alive.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
    }
    return memory;
}

void uncount(void* memory) noexcept {
    if (memory != nullptr) {
        AllocationCounts& now = *counts.load(std::memory_order_acquire);
        now.alive.fetch_sub(1, std::memory_order_relaxed);
        now.bytes_alive.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
    }
}

[[gnu::constructor]] void map_counts() {
    const char* const path = std::getenv("TELEGATE_ALLOCATIONS");
    const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void* const shared = ::mmap(nullptr, sizeof(AllocationCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (shared != MAP_FAILED) {
        auto* const mapped = new (shared) AllocationCounts;
        mapped->calls = before_mapping.calls.load();
        mapped->alive = before_mapping.alive.load();
        mapped->bytes_alive = before_mapping.bytes_alive.load();
        counts.store(mapped, std::memory_order_release);
    }
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) {
    return counted(__libc_malloc(bytes));
}
void* calloc(std::size_t count, std::size_t bytes) {
    return counted(__libc_calloc(count, bytes));
}
void* realloc(void* memory, std::size_t bytes) {
    uncount(memory);
    return counted(__libc_realloc(memory, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return counted(__libc_memalign(alignment, bytes));
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    return counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    constexpr int out_of_memory = 12;
    *memory = counted(__libc_memalign(alignment, bytes));
    return *memory != nullptr ? 0 : out_of_memory;
}
void free(void* memory) {
    uncount(memory);
    __libc_free(memory);
}
}
