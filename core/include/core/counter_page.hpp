#pragma once

#include "core/sequence_lock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace telegate {

/// A row of counters that one thread increments. Any thread can read a consistent copy, never half of a change.
///
/// Threads: begin(), add(), commit(): one writer. copy(): any.
/// Limits: the number of cells is fixed at construction.
/// Failure: none. copy() waits, without a lock, for a change in progress; keep the time between begin() and commit()
/// short.
class CounterPage {
  public:
    explicit CounterPage(std::size_t cells);

    /// Begins a change. add() is called between begin() and commit().
    void begin() noexcept { lock_.begin(); }
    void add(std::size_t cell, std::uint64_t amount) noexcept {
        cells_[cell].store(cells_[cell].load(std::memory_order_relaxed) + amount, std::memory_order_release);
    }
    void commit() noexcept { lock_.commit(); }

    /// Copies the first out.size() cells, at most cells(), as they were between two changes.
    void copy(std::span<std::uint64_t> out) const noexcept;
    [[nodiscard]] std::size_t cells() const noexcept { return size_; }

  private:
    const std::size_t size_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> cells_;
    SequenceLock lock_;
};

}  // namespace telegate
