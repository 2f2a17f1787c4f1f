#pragma once

#include <atomic>
#include <cstdint>

namespace telegate {

/// Wakes producers that wait for capacity. A producer sets a flag and then rechecks the capacity; the consumer frees
/// capacity and then checks the flag. With a fence between the two steps, at least one of them sees the other's change.
///
/// Threads: any.
/// Limits: one wake-up for all waiters, however often ring() is called before they have woken.
/// Failure: none.
class SpaceSignal {
  public:
    /// Returns after the next ring(), or immediately if `has_room()` is true. It is called after the flag is set.
    template <class HasRoom>
    void wait_unless(HasRoom has_room) noexcept {
        // Read before the flag is set, so a ring() that later clears the flag also increments the count later.
        const std::uint32_t rung = rung_.load();
        waiting_.store(true);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!has_room()) {
            rung_.wait(rung);
        }
    }

    /// Returns whether a producer waits. Must be called after capacity was freed; a waiter that is missed here sees the
    /// capacity.
    [[nodiscard]] bool somebody_waits() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return waiting_.load(std::memory_order_relaxed);
    }

    [[gnu::noinline]] void ring() noexcept {
        waiting_.store(false);
        rung_.fetch_add(1);
        rung_.notify_all();
    }

  private:
    std::atomic<bool> waiting_{false};
    std::atomic<std::uint32_t> rung_{0};
};

}  // namespace telegate
