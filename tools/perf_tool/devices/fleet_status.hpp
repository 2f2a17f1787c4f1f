#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace telegate::perf {

/// What /status says of a fleet; of the time since the gateway began. Lateness is that of devices that answer.
struct FleetStatus {
    double late_p50_us = 0;           // median over devices of the median of each
    double late_p99_us = 0;           // median over devices of the 99th percentile of each
    double late_p99_worst_us = 0;     // of the device that has the greatest
    double late_max_us = 0;           // of all readings
    std::size_t devices = 0;          // that answer
    std::uint64_t ticks_missed = 0;   // of these
    std::uint64_t reads_failed = 0;   // of these
    std::uint64_t samples_lost = 0;   // of all devices, by the books
    std::uint64_t messages_lost = 0;  // to subscribers
};

/// Reads the body of an answer.
/// Threads: any. Limits: none. Failure: throws std::runtime_error when something is not there, as when no device of
/// those that answer is in it.
[[nodiscard]] FleetStatus read_fleet_status(const std::string& body);

}  // namespace telegate::perf
