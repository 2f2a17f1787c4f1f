#pragma once

#include <atomic>
#include <cstdint>

namespace telegate::perf {

/// The counters of count_allocations.cpp in a file that both processes map.
/// Threads: any, of both processes. Limits: none. Failure: none.
struct AllocationCounts {
    std::atomic<std::uint64_t> calls{0};  // of malloc() and related functions
    std::atomic<std::uint64_t> alive{0};  // not yet freed
    std::atomic<std::uint64_t> bytes_alive{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "two processes cannot share a lock");

/// The environment variable with the path of the file.
inline constexpr const char* allocation_file_variable = "TELEGATE_ALLOCATIONS";

}  // namespace telegate::perf
