#pragma once

#include "core/unique_fd.hpp"

#include <atomic>
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

}  // namespace telegate
