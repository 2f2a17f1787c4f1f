#pragma once

#include "core/asymmetric_fence.hpp"

#include <atomic>
#include <cstdint>

namespace telegate {

/// Wakes producers that wait for room. Who makes room looks whether anybody waits, which costs nothing (see
/// asymmetric_fence.hpp); who wants to wait says so first, fences for both, and looks once more.
///
/// Threads: any.
/// Limits:  one wake-up of all who wait, however often it rings before they have woken.
/// Failure: none.
class RoomBell {
  public:
    /// Returns when it has rung, or at once when `has_room()`, which is asked after others can see that we wait.
    template <class HasRoom>
    void wait_unless(HasRoom has_room) noexcept {
        // Counted before we say that we wait: who lowers waiting_ after that rings after it as well.
        const std::uint32_t rung = rung_.load();
        waiting_.store(true);
        heavy_fence();
        if (!has_room()) {
            rung_.wait(rung);
        }
    }

    /// After room has been made. A producer that comes to wait and is not seen here has seen the room.
    [[nodiscard]] bool somebody_waits() const noexcept {
        light_fence();
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
