#pragma once

#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"

#include <memory>
#include <optional>

namespace telegate {

/// The thread `tg-sample`: steps the sampler, sleeps until the next deadline, and runs commands between steps.
///
/// Threads: start(), stop() one at a time; schedule() any after start(); all else any.
/// Limits:  at most commands_max commands wait; one more is answered like a timeout.
/// Failure: run_command() answers nullopt, and run_change() false, when the thread is not running or does not answer
///          within `timeout`; then nothing was done. It runs also when the system refuses the schedule, which
///          schedule() tells.
class SamplingThread {
  public:
    static constexpr std::size_t commands_max = 64;

    SamplingThread(Sampler& sampler, const Clock& clock, ThreadSchedule schedule = {});
    ~SamplingThread();
    SamplingThread(const SamplingThread&) = delete;
    SamplingThread& operator=(const SamplingThread&) = delete;

    /// After a stop() the sampler goes on where it was: the time between counts as missed ticks.
    void start();
    /// After it returns no more samples are taken. Idempotent. Close a queue with policy block first.
    void stop();

    std::optional<CommandResult> run_command(DeviceId device, DeviceCommand command, std::chrono::milliseconds timeout);
    /// Applies a prepared change between two steps.
    [[nodiscard]] bool run_change(Sampler::Prepared& prepared, std::chrono::milliseconds timeout);

    /// How long ago the thread should have woken for a deadline or a command, and not gone to sleep again since: some
    /// microseconds while it works, more when it is held up. Zero while it sleeps, and while it does not run.
    [[nodiscard]] Duration overdue(MonoTime now) const noexcept;
    /// Whether somebody's call came to nothing and the thread has not woken since: another one would only wait as long.
    [[nodiscard]] bool is_deaf() const noexcept;

    /// What the last start() asked of the system, and what it got.
    [[nodiscard]] const ScheduleGrant& schedule() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
