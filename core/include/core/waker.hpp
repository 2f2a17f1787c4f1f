#pragma once

#include <atomic>

namespace telegate {

/// Wakes one waiting thread through a descriptor; however many times it is woken, at most one wake-up is pending.
///
/// Threads: wake() any, after handing over the work; clear() only the woken thread, before it takes the work.
/// Limits:  one descriptor, one byte of state; no allocation after construction.
/// Failure: the constructor throws std::system_error when the process has no descriptor left.
class Waker {
  public:
    Waker();
    ~Waker();
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;

    void wake() noexcept;
    /// An exchange, not a store: it acquires the work of everyone whose wake() found a wake-up pending.
    void clear() noexcept;

    /// Readable while a wake-up is pending.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// Wake-ups that reached the descriptor; the rest were folded into a pending one.
    [[nodiscard]] unsigned long long signalled() const noexcept { return signalled_.load(std::memory_order_relaxed); }

  private:
    int descriptor_;
    std::atomic<bool> pending_{false};
    std::atomic<unsigned long long> signalled_{0};
};

}  // namespace telegate
