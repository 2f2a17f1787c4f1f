#pragma once

#include "delay_counts.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace telegate::perf {

/// How one thread wakes another: with nothing in between, or as a subscriber over tcp is woken.
enum class Bell : std::uint8_t { eventfd, tcp };

/// What this machine itself takes to wake a thread: one thread rings at each interval, the other sleeps in poll() and
/// takes the time when it has read what came. Counted from just before the ring, `count` times.
///
/// Threads: any, starts one more. Limits: none. Failure: throws std::system_error without descriptors or threads.
[[nodiscard]] DelayCounts measure_wake_ups(Bell bell, std::chrono::nanoseconds interval, std::size_t count);

}  // namespace telegate::perf
