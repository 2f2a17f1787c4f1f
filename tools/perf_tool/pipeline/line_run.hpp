#pragma once

#include "delay_counts.hpp"
#include "thread_figures.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::perf {

/// One run of the whole line.
struct LineWork {
    std::uint64_t rate = 100'000;  // samples per second
    std::uint64_t samples = 0;     // in all
    std::size_t channels = 10;
    std::size_t subscribers = 1;
    std::size_t stalled = 0;  // subscribers more, of everything, that never read
    std::string format = "json";
    std::size_t queue_size = 65'536;
    std::string policy = "drop_oldest";       // of the queue
    std::string slow_policy = "drop_oldest";  // of the endpoint
    std::chrono::nanoseconds tick_min = std::chrono::milliseconds(1);
};

/// What became of it. Every sample is accounted for, or there is no result.
struct LineResult {
    std::uint64_t offered = 0;   // samples captured
    std::uint64_t received = 0;  // by all subscribers together
    std::uint64_t messages = 0;  // the same
    std::uint64_t lost_at_queue = 0;
    std::uint64_t lost_at_backlogs = 0;  // messages, of all subscribers together, but for the stalled
    std::uint64_t lost_to_stalled = 0;   // messages that the stalled had lost when they left
    double memory_more_mib = 0;          // of this process, from before the first sample to the last reception
    std::size_t queue_high_water = 0;
    double offering_seconds = 0;  // from the first capture to the last
    double seconds = 0;           // from the first capture to the last reception
    DelayCounts delays;
    ThreadFigures sampling;
    ThreadFigures io;
    ThreadFigures receiving;  // all subscribers

    [[nodiscard]] bool lossless() const noexcept { return lost_at_queue == 0 && lost_at_backlogs == 0; }
};

/// One of the figures that a report shows of it.
struct LineFigure {
    std::string_view name;
    double (*of)(const LineResult& line);
};

/// Time between two ticks: one for each sample as long as that is not below tick_min.
[[nodiscard]] std::chrono::nanoseconds tick_of(const LineWork& work);

/// Ticks of one run at most, 16 MiB of times.
inline constexpr std::uint64_t ticks_max = 1'000'000;

/// Runs a Gateway as gateway_app does, with a device that offers the load, and subscribers over tcp in threads of their
/// own, until every sample has arrived or is in the books as lost.
///
/// Threads: one at a time. Limits: ticks_max.
/// Failure: throws std::runtime_error when the books do not say what was received, or when nothing moves for ten
///          seconds; SettingsError for a work that the gateway's settings do not allow.
[[nodiscard]] LineResult run_line(const LineWork& work);

}  // namespace telegate::perf
