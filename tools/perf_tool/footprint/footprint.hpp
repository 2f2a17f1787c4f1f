#pragma once

#include "process_memory.hpp"
#include "scenario.hpp"

#include <optional>
#include <string>
#include <vector>

namespace telegate::perf {

/// How gateway_app is measured.
struct FootprintWork {
    std::string program;
    std::string allocation_counter;  // the library that is loaded into it; empty: allocations are not counted
    double seconds = 10;
    double warm_up_seconds = 2;
};

/// What one scenario took, per second where it is no amount.
struct Footprint {
    ProcessMemory memory;  // at the end
    std::size_t threads = 0;
    double cpu_percent = 0;  // of one processor
    double wake_ups = 0;
    double switches = 0;  // of context, wake-ups included
    double samples = 0;
    double dropped = 0;                 // samples, in all
    std::optional<double> allocations;  // none when they could not be counted
    std::vector<double> status_us;      // the times of GET /status
};

/// Starts the program, lets it run for the time of the warm-up, measures it, and stops it; and once more with the
/// counter of allocations, which would disturb the rest.
/// Threads: one. Limits: none. Failure: throws std::runtime_error when something of it cannot be had, or when SIGINT or
/// SIGTERM ends it; nothing is left then.
[[nodiscard]] Footprint measure_footprint(const FootprintWork& work, const Scenario& scenario);

}  // namespace telegate::perf
