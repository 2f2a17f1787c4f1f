#pragma once

#include "fleet_settings.hpp"
#include "fleet_status.hpp"

#include <cstddef>
#include <string>

namespace telegate::perf {

/// How a fleet is measured.
struct FleetWork {
    Fleet fleet;
    std::string program;  // gateway_app
    std::size_t hung = 0;
    double seconds = 10;
    double warm_up_seconds = 2;
};

/// What came out.
struct FleetFigures {
    double cpu_percent = 0;           // of one processor, all threads
    double cpu_sampling_percent = 0;  // that of tg-sample alone
    double resident_mib = 0;          // at the end
    double samples = 0;               // per second, that each subscriber saw
    FleetStatus status;               // of the warm-up too
};

/// Starts gateway_app with the fleet, lets it run for the time of the warm-up, measures it, asks it for its status, and
/// stops it.
/// Threads: one. Limits: none. Failure: throws std::runtime_error when something of it
/// cannot be had, when a device that answers failed, when one that hangs never called its peer, when subscribers saw
/// nothing, or when SIGINT or SIGTERM ends it; nothing is left then.
[[nodiscard]] FleetFigures run_fleet(const FleetWork& work);

}  // namespace telegate::perf
