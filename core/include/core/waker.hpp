#pragma once

#include "core/unique_fd.hpp"

#include <atomic>

namespace telegate {

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
    /// An exchange, not a store: it acquires the work of every thread whose wake() found a wake-up pending.
    void clear() noexcept;

    /// Returns the descriptor, which is readable while a wake-up is pending.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
    /// Returns how many wake-ups reached the descriptor. The others were merged into a pending one.
    [[nodiscard]] unsigned long long signaled() const noexcept { return signaled_.load(std::memory_order_relaxed); }

  private:
    const UniqueFd descriptor_;
    std::atomic<bool> pending_{false};
    std::atomic<unsigned long long> signaled_{0};
};

}  // namespace telegate
