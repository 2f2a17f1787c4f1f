#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "device/thread_schedule.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace telegate {

/// A thread that calls a step function repeatedly. It sleeps until the time that the last step returned, and runs calls
/// from other threads between two steps. A caller sets the cancel signal, which is cleared before each step.
///
/// Threads: start(), stop() and join() run one at a time; everything else is for any thread.
/// Limits: at most calls_max calls wait; a further call fails like a timeout.
/// Failure: start() throws std::system_error if the thread cannot be created. run_call() returns false if the thread is
/// not running or does not run the call within `timeout`; then nothing was done. The thread also runs if the system
/// refuses the schedule, which schedule() reports.
class SteppingThread {
  public:
    static constexpr std::size_t calls_max = 64;

    struct Work {
        std::string name;  // of the thread; truncated to 15 bytes
        std::function<void()> begin = [] {
        };
        std::function<MonoTime(MonoTime)>
            step;  // returns when the next step is due; MonoTime::max(): only after a call
        std::function<void()> end = [] {
        };
    };

    SteppingThread(const Clock& clock, std::shared_ptr<CancelSignal> cancel, Work work);
    ~SteppingThread();
    SteppingThread(const SteppingThread&) = delete;
    SteppingThread& operator=(const SteppingThread&) = delete;

    void start(const ThreadSchedule& wanted);
    /// Stops stepping; begin and end of the work still run. Returns immediately. Idempotent.
    void stop();
    /// Waits until the thread has ended. Call stop() first.
    void join();

    [[nodiscard]] bool run_call(const std::function<void(MonoTime)>& call, std::chrono::milliseconds timeout);
    /// Makes the thread take a step soon, independent of the time that the last step returned.
    void nudge();

    /// Returns how long the thread has been overdue for a deadline or call without going back to sleep. Zero while it
    /// sleeps or is not running.
    [[nodiscard]] Duration overdue(MonoTime now) const noexcept;
    /// Returns whether a call has timed out and the thread has not woken since. Another call would only time out again.
    [[nodiscard]] bool is_deaf() const noexcept { return is_deaf_.load(std::memory_order_relaxed); }
    /// Returns the schedule that the last start() requested, and what was granted.
    [[nodiscard]] const ScheduleGrant& schedule() const noexcept { return schedule_; }

  private:
    /// A pending call; lives on the stack of the caller that waits for it.
    struct Request {
        enum class Progress : std::uint8_t { waiting, done, canceled };

        const std::function<void(MonoTime)>& call;
        Progress progress = Progress::waiting;
    };

    void run();
    void wait_until(std::unique_lock<std::mutex>& lock, MonoTime deadline);
    void answer_requests();
    void cancel_requests();
    void forget_requests();

    const Clock& clock_;
    const Work work_;
    const std::shared_ptr<CancelSignal> cancel_;

    std::mutex mutex_;  // guards the members below; not held during a step
    std::condition_variable wake_;
    std::condition_variable answers_;
    std::vector<Request*> requests_;
    bool running_ = false;
    bool stopping_ = false;
    bool nudged_ = false;

    /// A call has timed out, and the thread has not woken since.
    std::atomic<bool> is_deaf_{false};
    /// The next scheduled wake-up, or one that is overdue; MonoTime::max(): none.
    std::atomic<MonoTime> wakes_at_{MonoTime::max()};

    std::thread thread_;
    ScheduleGrant schedule_;
};

}  // namespace telegate
