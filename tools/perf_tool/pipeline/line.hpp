#pragma once

#include "pipeline/load.hpp"
#include "system.hpp"

namespace telegate::perf {

/// The result of a run, in which every sample is accounted for.
struct LineResult {
    std::uint64_t offered = 0;   // samples captured
    std::uint64_t received = 0;  // samples, by all subscribers together
    std::uint64_t messages = 0;  // by all subscribers together
    std::uint64_t lost_at_queue = 0;
    std::uint64_t lost_at_backlogs = 0;  // messages
    std::uint64_t lost_by_log = 0;       // samples, for which the disk was too slow
    std::size_t queue_high_water = 0;
    double seconds = 0;  // from the first sample captured to the last one received
    DelayCounts delays;
    ThreadFigures sampling;
    ThreadFigures io;
    ThreadFigures logging;
    ThreadFigures receiving;  // all subscribers

    [[nodiscard]] bool lossless() const noexcept { return lost_at_queue == 0 && lost_at_backlogs == 0; }
};

/// Runs a Gateway as gateway_app does, with a device that produces the load, and subscribers over tcp in threads of
/// their own, until every sample has arrived or is in the ledger as dropped.
///
/// Threads: one at a time. Limits: 16 bytes per tick.
/// Failure: throws std::runtime_error if the ledger differs from the received samples or nothing happens for ten
/// seconds, SettingsError if the gateway's settings do not allow the work, and Interrupted.
[[nodiscard]] LineResult run_line(const LineWork& work);

}  // namespace telegate::perf
