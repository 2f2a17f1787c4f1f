#pragma once

#include "core/unique_fd.hpp"

#include <atomic>

namespace telegate {

/// Wakes one waiting thread through a descriptor. However often it is woken, at most one wake-up is pending.
///
/// The woken thread may be in low-power mode. A producer with little work, none of it urgent, then need not
/// wake it. In normal mode it must.
///
/// Threads: wake(), is_low_power(): any, after the work was queued. clear(): only the woken thread, before it takes the
/// work. begin_low_power(), end_low_power(): also only that thread; end_low_power() before it takes work that was
/// queued without waking it. Limits: one descriptor; no allocation after construction. Failure: the constructor throws
/// std::system_error if the process has no free descriptor.
class Waker {
  public:
    Waker();

    /// Makes descriptor() readable, unless a wake-up is pending.
    void wake() noexcept;
    /// An exchange, not a store: it acquires the work of every thread whose wake() found a wake-up pending.
    void clear() noexcept;

    /// Begins low-power mode.
    void begin_low_power() noexcept { low_power_.store(true, std::memory_order_relaxed); }
    /// Ends low-power mode. Work of a thread that still saw low-power mode is visible afterwards.
    void end_low_power() noexcept;
    [[nodiscard]] bool is_low_power() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return low_power_.load(std::memory_order_relaxed);
    }

    /// Returns the descriptor, which is readable while a wake-up is pending.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
    /// Returns how many wake-ups reached the descriptor. The others were merged into a pending one.
    [[nodiscard]] unsigned long long signaled() const noexcept { return signaled_.load(std::memory_order_relaxed); }

  private:
    const UniqueFd descriptor_;
    std::atomic<bool> pending_{false};
    std::atomic<bool> low_power_{false};
    std::atomic<unsigned long long> signaled_{0};
};

}  // namespace telegate
