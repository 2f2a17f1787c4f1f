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

/// A thread that steps something: it sleeps until the time that the last step gave, and runs the calls of others
/// between two steps. Whoever calls sets the cancel signal, which is cleared before each step.
///
/// Threads: start(), stop(), join() one at a time; all else any.
/// Limits:  at most calls_max calls wait; one more is answered like a timeout.
/// Failure: start() throws std::system_error when there is no thread to be had. run_call() answers false when the
///          thread is not running or does not come to it within `timeout`; then nothing was done. It runs also when the
///          system refuses the schedule, which schedule() tells.
class SteppingThread {
  public:
    static constexpr std::size_t calls_max = 64;

    struct Work {
        std::string name;  // of the thread, cut at 15 bytes
        std::function<void()> begin = [] {
        };
        std::function<MonoTime(MonoTime)>
            step;  // returns when the next one is due; MonoTime::max(): with the next call
        std::function<void()> end = [] {
        };
    };

    SteppingThread(const Clock& clock, std::shared_ptr<CancelSignal> cancel, Work work);
    ~SteppingThread();
    SteppingThread(const SteppingThread&) = delete;
    SteppingThread& operator=(const SteppingThread&) = delete;

    void start(const ThreadSchedule& wanted);
    /// No further step, but begin and end of the work. Returns at once; idempotent.
    void stop();
    /// Waits for its end; stop() comes first.
    void join();

    [[nodiscard]] bool run_call(const std::function<void(MonoTime)>& call, std::chrono::milliseconds timeout);
    /// Has it step soon, whatever the last step said.
    void nudge();

    /// How long ago the thread should have woken for a deadline or a call, and not gone to sleep again since. Zero
    /// while it sleeps, and while it does not run.
    [[nodiscard]] Duration overdue(MonoTime now) const noexcept;
    /// Whether somebody's call came to nothing and the thread has not woken since: another one would only wait as long.
    [[nodiscard]] bool is_deaf() const noexcept { return is_deaf_.load(std::memory_order_relaxed); }
    /// What the last start() asked of the system, and what it got.
    [[nodiscard]] const ScheduleGrant& schedule() const noexcept { return schedule_; }

  private:
    /// A call on its way; lives on the stack of the caller that waits for it.
    struct Request {
        enum class Progress : std::uint8_t { waiting, done, cancelled };

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

    std::mutex mutex_;  // guards what follows; not held during a step
    std::condition_variable wake_;
    std::condition_variable answers_;
    std::vector<Request*> requests_;
    bool running_ = false;
    bool stopping_ = false;
    bool nudged_ = false;

    /// It did not come to a call in time, and has not been seen awake since.
    std::atomic<bool> is_deaf_{false};
    /// When the thread wakes next, or should have; MonoTime::max(): not of its own accord.
    std::atomic<MonoTime> wakes_at_{MonoTime::max()};

    std::thread thread_;
    ScheduleGrant schedule_;
};

}  // namespace telegate
