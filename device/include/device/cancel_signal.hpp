#pragma once

#include <atomic>
#include <mutex>

namespace telegate {

/// Asks a read that waits for its device to return soon: a flag, and a descriptor that is readable while it is set, to
/// be watched beside the device's own.
///
/// Threads: any; set() and clear() under a mutex.
/// Limits:  one descriptor.
/// Failure: the constructor throws std::system_error when there is no descriptor; nothing else fails.
class CancelSignal {
  public:
    CancelSignal();
    ~CancelSignal();
    CancelSignal(const CancelSignal&) = delete;
    CancelSignal& operator=(const CancelSignal&) = delete;

    void set() noexcept;
    void clear() noexcept;
    [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }
    /// Readable (POLLIN) while it is set.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  private:
    const int descriptor_;
    std::mutex mutex_;  // so that the flag and the descriptor say the same
    std::atomic<bool> set_{false};
};

}  // namespace telegate
