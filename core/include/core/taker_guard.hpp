#pragma once

#include <time.h>

#include <atomic>
#include <thread>

namespace telegate {

/// Waits for another thread to finish a section that is shorter than falling asleep. The first few waits only yield the
/// processor, later waits sleep: a thread with real-time priority does not give way by yielding, so an ordinary thread
/// on the same processor would never finish its section.
///
/// Threads: one, with its own ShortWait for each wait.
/// Limits: sleeps for at least sleep_ns at a time.
/// Failure: none.
class ShortWait {
  public:
    void once() noexcept {
        if (offers_ < offers_max) {
            ++offers_;
            std::this_thread::yield();
        } else {
            const timespec time{0, sleep_ns};
            ::nanosleep(&time, nullptr);
        }
    }

  private:
    static constexpr unsigned offers_max = 64;
    static constexpr long sleep_ns = 20'000;  // several sections of another thread

    unsigned offers_ = 0;
};

/// Prevents two threads from taking at the same time: a consumer, which takes all the time, and an evictor, which takes
/// for a while and then perhaps never again. While there is no evictor, the consumer sets a flag and checks for an
/// evictor, at the cost of a fence. A new evictor announces itself and checks the flag. At least one of the two sees
/// the other: the evictor waits until the flag is cleared, or the consumer takes turns with the evictor until
/// evictors_leave(). The turn, the cleared flag and evictors_leave() release what was taken until then to the side that
/// takes next, which acquires them.
///
/// Threads: Consumer: one. Evictor: one. evictors_leave(): the evictor's, while it has no Evictor.
/// Limits: each side waits for the other with ShortWait.
/// Failure: none.
class TakerGuard {
  public:
    /// Has exclusive access for as long as it lives.
    class Consumer {
      public:
        explicit Consumer(TakerGuard& guard) noexcept : guard_(guard) {
            guard_.consuming_.store(true, std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            if (guard_.evictors_.load(std::memory_order_acquire)) [[unlikely]] {
                guard_.consuming_.store(false, std::memory_order_relaxed);  // nothing was taken since the fence
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

    /// Ends turn-taking. A consumer that is waiting for its turn still gets it, and needs none the next time.
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
