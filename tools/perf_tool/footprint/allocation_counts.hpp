#pragma once

#include <atomic>
#include <cstdint>

namespace telegate::perf {

/// What count_allocations.cpp counts in the process that it is loaded into, in a file that both map.
/// Threads: any, of both processes. Limits: none. Failure: none.
struct AllocationCounts {
    std::atomic<std::uint64_t> calls{0};  // of malloc and its kin
    std::atomic<std::uint64_t> alive{0};  // not yet freed
    std::atomic<std::uint64_t> bytes_alive{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "two processes share no lock");

/// The environment variable that names the file.
inline constexpr const char* allocation_file_variable = "TELEGATE_ALLOCATIONS";

}  // namespace telegate::perf
