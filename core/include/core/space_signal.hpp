#pragma once

#include <atomic>
#include <cstdint>

namespace telegate {

/// Wakes producers that wait for room. A producer sets a flag and then checks again whether there is room; the consumer
/// makes room and then checks the flag. With a fence between the two steps, at least one of them sees the other.
///
/// Threads: any.
/// Limits:  one wake-up of all who wait, however often it rings before they have woken.
/// Failure: none.
class SpaceSignal {
  public:
    /// Returns after the next ring(), or immediately if `has_room()`, which is called after the flag is set.
    template <class HasRoom>
    void wait_unless(HasRoom has_room) noexcept {
        // Read before the flag is set: a ring() that lowers the flag after that counts up after that as well.
        const std::uint32_t rung = rung_.load();
        waiting_.store(true);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!has_room()) {
            rung_.wait(rung);
        }
    }

    /// Returns whether a producer waits; to be called after making room. A waiter that is missed here sees the room.
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
