#pragma once

#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace telegate {

/// The threads that read devices: `tg-sample` for all devices that never block, and `tg-bus-NAME` for each device that
/// may block. They step the sampler, sleep until the next deadline, and run commands between steps.
///
/// When a device with its own thread is changed, it gets a new thread, which waits until the previous one has ended. A
/// hanging device therefore blocks only its successor.
///
/// Threads: start() and stop() run one at a time; schedule() runs on any thread after start(); everything else is for
/// any thread. start(), stop() and run_change() exclude each other: a stop waits until a change is complete or has
/// timed out, and the other way around.
/// Limits: at most commands_max commands wait for each thread; a further command fails like a timeout. There are as
/// many threads as devices with their own thread, plus those that have not ended yet.
/// Failure: run_command() returns nullopt and run_change() returns false if the thread is not running or does not
/// respond within `timeout`; then nothing was done. The threads also run if the system refuses the schedule, which
/// schedule() reports. start() and run_change() throw std::system_error if a thread cannot be created; then
/// run_change() has done nothing.
class SamplingThreads {
  public:
    static constexpr std::size_t commands_max = 64;

    /// `schedule` applies to tg-sample; other threads have the default schedule.
    SamplingThreads(Sampler& sampler, const Clock& clock, ThreadSchedule schedule = {});
    ~SamplingThreads();
    SamplingThreads(const SamplingThreads&) = delete;
    SamplingThreads& operator=(const SamplingThreads&) = delete;

    /// After a stop() the sampler continues; the time in between counts as missed ticks.
    void start();
    /// Stops sampling; no samples are taken after it returns. Idempotent. Close a queue with policy block first.
    void stop();

    std::optional<CommandResult> run_command(DeviceId device, DeviceCommand command, std::chrono::milliseconds timeout);
    /// Applies a prepared change between two steps. Devices with their own threads apply their part later, between
    /// steps of those threads.
    [[nodiscard]] bool run_change(const std::shared_ptr<Sampler::Prepared>& prepared,
                                  std::chrono::milliseconds timeout);

    /// Returns how long tg-sample has been overdue for a deadline or command without going back to sleep: microseconds
    /// while it works, more while it is blocked. Zero while it sleeps or is not running.
    [[nodiscard]] Duration overdue(MonoTime now) const noexcept;
    /// Returns whether a call to the thread of this device has timed out and the thread has not woken since. Another
    /// call would only time out again.
    [[nodiscard]] bool is_deaf(DeviceId device) const;

    /// Returns the schedule that the last start() requested for tg-sample, and what was granted.
    [[nodiscard]] const ScheduleGrant& schedule() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
