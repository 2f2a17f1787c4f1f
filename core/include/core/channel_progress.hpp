#pragma once

#include "core/sequence_lock.hpp"

#include <atomic>
#include <cstdint>

namespace telegate {

/// How far one channel has been published: the sequence number reached, and how many samples up to it were lost.
///
/// Threads: reach(), skip_to(), reached(): one writer. published(): any.
/// Limits: none.
/// Failure: none. published() waits, without a lock, for a skip in progress.
class alignas(32) ChannelProgress {  // a power-of-two size makes indexing cheaper
  public:
    /// Marks all samples after the number reached, up to `seq`, as published. If some of them are missing, call
    /// skip_to() first.
    void reach(std::uint64_t seq) noexcept { reached_.store(seq, std::memory_order_release); }
    /// Marks all samples after the number reached, up to `seq`, as lost.
    void skip_to(std::uint64_t seq) noexcept;
    [[nodiscard]] std::uint64_t reached() const noexcept { return reached_.load(std::memory_order_relaxed); }

    /// Returns how many samples were ever published.
    [[nodiscard]] std::uint64_t published() const noexcept;

  private:
    std::atomic<std::uint64_t> reached_{0};
    std::atomic<std::uint64_t> missing_{0};
    SequenceLock lock_;  // for skip_to()
};

}  // namespace telegate
