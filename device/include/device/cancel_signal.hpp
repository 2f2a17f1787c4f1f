#pragma once

#include "core/clock.hpp"
#include "core/unique_fd.hpp"

#include <atomic>
#include <cstdint>

namespace telegate {

/// Requests that a read that waits for its device return soon. Consists of a flag and a descriptor that is readable
/// while the flag is set, which a driver polls together with the descriptor of its device.
///
/// The flag publishes nothing: a driver that the descriptor has woken sees it, because the system orders a write of the
/// descriptor before the wake-up, and the mutex of the owner orders set() and clear().
///
/// Threads: set() and clear(): any, one at a time, so the owner locks a mutex. All others: any.
/// Limits: one descriptor.
/// Failure: the constructor throws std::system_error when no descriptor is available; nothing else fails.
class CancelSignal {
  public:
    CancelSignal();

    void set() noexcept;
    void clear() noexcept;
    [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }
    /// Returns a descriptor that is readable (POLLIN) while the signal is set.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  private:
    const UniqueFd descriptor_;
    std::atomic<bool> set_{false};
};

enum class Woken : std::uint8_t { ready, timed_out, canceled };

struct WaitResult {
    Woken woken = Woken::timed_out;
    short events = 0;  // with `ready`: the events of poll(), including errors and hang-ups
};

/// Waits for `events` of the descriptor, or for the signal, which takes precedence. A descriptor of -1 is ignored;
/// `cancel` may be null. Threads: any.
[[nodiscard]] WaitResult wait_for(int descriptor, short events, const CancelSignal* cancel, MonoTime until) noexcept;

}  // namespace telegate
