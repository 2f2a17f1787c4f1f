#pragma once

#include "core/short_wait.hpp"

#include <atomic>

namespace telegate {

/// Keeps a consumer, which takes all the time, and an evictor, which takes for a while and then perhaps never again,
/// from taking at the same time. While there is no evictor, the consumer raises a flag and checks for one, at the cost
/// of a fence. A new evictor announces itself and checks the flag. At least one of the two sees the other: the evictor
/// waits until the flag is lowered, or the consumer takes turns with the evictor until evictors_leave().
///
/// Threads: a Consumer in one; an Evictor in one; evictors_leave() the evictor's, between its stays.
/// Limits:  a stay of the one is a ShortWait of the other.
/// Failure: none.
class TakerGuard {
  public:
    /// Alone with what is taken from, for as long as it lives.
    class Consumer {
      public:
        explicit Consumer(TakerGuard& guard) noexcept : guard_(guard) {
            guard_.consuming_.store(true, std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            if (guard_.evictors_.load(std::memory_order_acquire)) [[unlikely]] {
                guard_.consuming_.store(false, std::memory_order_release);
                guard_.wait_for_turn();
                has_turn_ = true;
            }
        }
        ~Consumer() {
            if (has_turn_) [[unlikely]] {
                guard_.turn_.clear(std::memory_order_release);
            } else {
                guard_.consuming_.store(false, std::memory_order_release);
            }
        }
        Consumer(const Consumer&) = delete;
        Consumer& operator=(const Consumer&) = delete;

      private:
        TakerGuard& guard_;
        bool has_turn_ = false;
    };

    class Evictor {
      public:
        explicit Evictor(TakerGuard& guard) noexcept : guard_(guard) {
            guard_.wait_for_turn();
            if (!guard_.evictors_are_here()) {
                guard_.evictors_.store(true, std::memory_order_relaxed);
                std::atomic_thread_fence(std::memory_order_seq_cst);
                ShortWait wait;
                while (guard_.consuming_.load(std::memory_order_acquire)) {
                    wait.once();
                }
            }
        }
        ~Evictor() { guard_.turn_.clear(std::memory_order_release); }
        Evictor(const Evictor&) = delete;
        Evictor& operator=(const Evictor&) = delete;

      private:
        TakerGuard& guard_;
    };

    /// A consumer that waits for its turn just now gets it, and comes without one the next time.
    void evictors_leave() noexcept { evictors_.store(false, std::memory_order_release); }
    [[nodiscard]] bool evictors_are_here() const noexcept { return evictors_.load(std::memory_order_relaxed); }

  private:
    [[gnu::noinline]] void wait_for_turn() noexcept {
        ShortWait wait;
        while (turn_.test_and_set(std::memory_order_acquire)) {
            wait.once();
        }
    }

    std::atomic<bool> consuming_{false};
    std::atomic<bool> evictors_{false};
    std::atomic_flag turn_;
};

}  // namespace telegate
