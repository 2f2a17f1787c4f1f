#pragma once

#include "device/thread_schedule.hpp"
#include "tick_record.hpp"

#include <array>

namespace telegate::perf {

/// What each engine does in one run: it serves `ticks` deadlines, `interval` apart, in a thread of its own.
struct TickWork {
    Duration interval{};
    std::uint64_t ticks = 0;
    ThreadSchedule schedule;
};

/// One way to do it. `run` throws std::runtime_error when a sample was lost or the system refuses the schedule.
struct TickEngine {
    const char* name;
    TickRecord (*run)(const TickWork& work);
};

/// The gateway's own sampler and sampling thread, with a device of one channel, its queue, and a thread that takes the
/// samples out, woken as the io thread is.
[[nodiscard]] TickRecord run_sampler(const TickWork& work);
/// Nothing but clock_nanosleep() to the deadline and a look at the clock; with the timer slack that the sampling thread
/// asks for, 1 ns, and with the one that threads have by default, 50 us.
[[nodiscard]] TickRecord run_bare(const TickWork& work);
[[nodiscard]] TickRecord run_bare_with_slack(const TickWork& work);

inline constexpr std::array<TickEngine, 3> tick_engines{
    {{"sampler", run_sampler}, {"bare", run_bare}, {"bare 50 us", run_bare_with_slack}}};

/// Throws std::runtime_error when the system did not grant all that was wanted.
void require_granted(const ScheduleGrant& grant);

}  // namespace telegate::perf
