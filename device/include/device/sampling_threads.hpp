#pragma once

#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace telegate {

/// The threads that read devices: `tg-sample` for all that never block, and `tg-bus-NAME` for each that may. They step
/// the sampler, sleep until the next deadline, and run commands between steps.
///
/// A device with a thread of its own that is changed gets a new thread, which waits until the one before has ended; so
/// a device that hangs holds up nobody but its successor.
///
/// Threads: start(), stop() one at a time; schedule() any after start(); all else any. start(), stop() and run_change()
///          wait for each other: a stop begins when a change is complete or has timed out, and the other way around.
/// Limits:  at most commands_max commands wait for each thread; one more is answered like a timeout. As many threads as
///          there are devices with one, and those that have not ended yet.
/// Failure: run_command() answers nullopt, and run_change() false, when the thread is not running or does not answer
///          within `timeout`; then nothing was done. They run also when the system refuses the schedule, which
///          schedule() tells. start() and run_change() throw std::system_error when there is no thread to be had; then
///          run_change() has done nothing.
class SamplingThreads {
  public:
    static constexpr std::size_t commands_max = 64;

    /// `schedule` is that of tg-sample; the others are ordinary threads.
    SamplingThreads(Sampler& sampler, const Clock& clock, ThreadSchedule schedule = {});
    ~SamplingThreads();
    SamplingThreads(const SamplingThreads&) = delete;
    SamplingThreads& operator=(const SamplingThreads&) = delete;

    /// After a stop() the sampler goes on where it was: the time between counts as missed ticks.
    void start();
    /// After it returns no more samples are taken. Idempotent. Close a queue with policy block first.
    void stop();

    std::optional<CommandResult> run_command(DeviceId device, DeviceCommand command, std::chrono::milliseconds timeout);
    /// Applies a prepared change between two steps. What concerns devices with threads of their own follows when these
    /// come to it.
    [[nodiscard]] bool run_change(const std::shared_ptr<Sampler::Prepared>& prepared,
                                  std::chrono::milliseconds timeout);

    /// How long ago tg-sample should have woken for a deadline or a command, and not gone to sleep again since: some
    /// microseconds while it works, more when it is held up. Zero while it sleeps, and while it does not run.
    [[nodiscard]] Duration overdue(MonoTime now) const noexcept;
    /// Whether somebody's call to the thread of this device came to nothing and it has not woken since: another one
    /// would only wait as long.
    [[nodiscard]] bool is_deaf(DeviceId device) const;

    /// What the last start() asked of the system for tg-sample, and what it got.
    [[nodiscard]] const ScheduleGrant& schedule() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
