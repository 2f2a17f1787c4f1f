#pragma once

#include "core/clock.hpp"
#include "core/unique_fd.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace telegate {

/// Requests that a read that waits for its device return soon. Consists of a flag and a descriptor that is readable
/// while the flag is set, which a driver polls together with the descriptor of its device.
///
/// Threads: any; set() and clear() lock a mutex.
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
    std::mutex mutex_;  // keeps the flag and the descriptor consistent
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
