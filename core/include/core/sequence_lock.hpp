#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace telegate {

/// A sequence lock: one thread updates several atomic values together, and any thread reads a consistent copy.
///
/// Between begin() and commit() the writer stores the values with memory_order_release; a reader loads them with
/// memory_order_acquire. A reader that sees a new value therefore also sees that a change is in progress.
///
/// Threads: begin(), commit(): one writer. read(): any.
/// Limits: none.
/// Failure: none. read() waits, without a lock, for a change in progress; keep the time between begin() and commit()
/// short.
class SequenceLock {
  public:
    void begin() noexcept { version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
    void commit() noexcept { version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

    /// Calls `copy()` until no change has happened during the call, and returns its last result.
    template <class Copy>
    auto read(const Copy& copy) const noexcept(noexcept(copy())) {
        for (;;) {
            const std::uint64_t before = version_.load(std::memory_order_acquire);
            if (before % 2 == 0) {
                auto result = copy();
                // The acquire loads of the values come before this load.
                if (version_.load(std::memory_order_relaxed) == before) {
                    return result;
                }
            }
            std::this_thread::yield();
        }
    }

  private:
    std::atomic<std::uint64_t> version_{0};  // odd while a change is in progress
};

}  // namespace telegate
