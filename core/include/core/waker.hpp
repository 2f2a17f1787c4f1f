#pragma once

#include <atomic>

namespace telegate {

/// Wakes one waiting thread through a descriptor; however many times it is woken, at most one wake-up is pending.
///
/// The woken thread may be patient: then who hands over a little work, none of which is urgent, need not wake it.
///
/// Threads: wake(), is_patient() any, after handing over the work; clear() only the woken thread, before it takes the
///          work; be_patient(), be_prompt() that thread too, be_prompt() before it takes what may have been left to
///          wait.
/// Limits:  one descriptor; no allocation after construction.
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

    void be_patient() noexcept { patient_.store(true, std::memory_order_relaxed); }
    /// Whoever does not see it has handed over work that can be seen now.
    void be_prompt() noexcept;
    [[nodiscard]] bool is_patient() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return patient_.load(std::memory_order_relaxed);
    }

    /// Readable while a wake-up is pending.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// Wake-ups that reached the descriptor; the rest were folded into a pending one.
    [[nodiscard]] unsigned long long signalled() const noexcept { return signalled_.load(std::memory_order_relaxed); }

  private:
    int descriptor_;
    std::atomic<bool> pending_{false};
    std::atomic<bool> patient_{false};
    std::atomic<unsigned long long> signalled_{0};
};

}  // namespace telegate
