#pragma once

#include "core/unique_fd.hpp"

#include <atomic>
#include <chrono>

namespace telegate {

/// A flag for a wake-up that was sent and has not arrived, so that at most one is pending.
///
/// set() releases the work that was queued before it, and clear() acquires the work of every set() before it, including
/// those that found a wake-up pending. Therefore both are exchanges: they continue the release sequence of the previous
/// change, which a store would end, and they read the newest value, which a load might miss.
///
/// Threads: set(): any, after the work was queued. clear(): only the woken thread, before it takes the work.
/// Limits: none. Failure: none.
class PendingWake {
  public:
    /// Returns whether the caller must send the wake-up: none was pending.
    [[nodiscard]] bool set() noexcept { return !pending_.exchange(true, std::memory_order_release); }
    void clear() noexcept { pending_.exchange(false, std::memory_order_acquire); }

  private:
    std::atomic<bool> pending_{false};
};

/// Wakes one waiting thread through a descriptor. However often it is woken, at most one wake-up is pending.
///
/// Threads: wake(): any, after the work was queued. clear(): only the woken thread, before it takes the work.
/// Limits: one descriptor; no allocation after construction. Failure: the constructor throws std::system_error if the
/// process has no free descriptor.
class Waker {
  public:
    Waker();

    /// Makes descriptor() readable, unless a wake-up is pending.
    void wake() noexcept;
    /// Reads the descriptor first: a wake-up that is sent after that must stay readable.
    void clear() noexcept;

    /// Returns the descriptor, which is readable while a wake-up is pending.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
    /// Returns how many wake-ups reached the descriptor. The others were merged into a pending one.
    [[nodiscard]] unsigned long long signaled() const noexcept { return signaled_.load(std::memory_order_relaxed); }

  private:
    const UniqueFd descriptor_;
    PendingWake pending_;
    std::atomic<unsigned long long> signaled_{0};
};

/// Wakes the consumer of a queue. In normal mode, each producer wakes it. In low-power mode, a producer whose work may
/// wait calls wake_later() instead: the first one starts a timer for the delay that the consumer has set, and the timer
/// wakes the consumer. No work therefore waits longer than the delay, whether or not more of it follows.
///
/// A producer queues work, issues a fence and checks the mode; end_low_power() changes the mode, issues a fence, and
/// the consumer then checks for work. So either the producer sees normal mode, or the consumer sees the work.
///
/// Threads: wake(), wake_later(), is_low_power(): any, after the work was queued. All others: only the woken thread;
/// clear(), clear_late() and end_low_power() before it takes the work.
/// Limits: two descriptors; one pending wake-up and one timer; one system call for each. No allocation after
/// construction. Failure: the constructor throws std::system_error if the process has no free descriptor.
class QueueWaker {
  public:
    QueueWaker();

    /// Makes descriptor() readable, unless a wake-up is pending.
    void wake() noexcept { now_.wake(); }
    /// Makes late_descriptor() readable within the delay, unless the timer is running.
    void wake_later() noexcept;

    /// Ends the wake-up of descriptor().
    void clear() noexcept { now_.clear(); }
    /// Ends the wake-up of late_descriptor(), like Waker::clear().
    void clear_late() noexcept;

    /// Begins low-power mode, or changes its delay, which must be positive.
    void begin_low_power(std::chrono::milliseconds delay) noexcept;
    /// Ends low-power mode. Work of a thread that still saw low-power mode is visible afterwards.
    void end_low_power() noexcept;
    [[nodiscard]] bool is_low_power() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return delay_.load(std::memory_order_relaxed) != std::chrono::milliseconds(0);
    }

    [[nodiscard]] int descriptor() const noexcept { return now_.descriptor(); }
    [[nodiscard]] int late_descriptor() const noexcept { return timer_.get(); }
    /// Returns how many wake-ups reached descriptor(). The others were merged into a pending one.
    [[nodiscard]] unsigned long long signaled() const noexcept { return now_.signaled(); }
    /// Returns how often the timer was started.
    [[nodiscard]] unsigned long long timers() const noexcept { return timers_.load(std::memory_order_relaxed); }

  private:
    Waker now_;
    const UniqueFd timer_;
    PendingWake timer_on_;
    std::atomic<std::chrono::milliseconds> delay_{std::chrono::milliseconds(0)};  // 0: normal mode
    std::atomic<unsigned long long> timers_{0};
};

}  // namespace telegate
