#pragma once

#include "core/sequence_lock.hpp"

#include <atomic>
#include <cstdint>

namespace telegate {

/// How far one channel has been published: the number that is reached, and how many up to there were lost before.
///
/// Threads: reach(), skip_to(), reached() one writer; published() any.
/// Limits:  none.
/// Failure: none. published() waits, without a lock, for a skip in progress.
class alignas(32) ChannelProgress {  // a power of two of bytes is found in fewer steps
  public:
    /// All samples behind the number reached are published, up to this one. Where some of them are missing, skip_to()
    /// comes first.
    void reach(std::uint64_t seq) noexcept { reached_.store(seq, std::memory_order_release); }
    /// All samples behind the number reached are lost, up to this one.
    void skip_to(std::uint64_t seq) noexcept;
    [[nodiscard]] std::uint64_t reached() const noexcept { return reached_.load(std::memory_order_relaxed); }

    /// How many have been published ever.
    [[nodiscard]] std::uint64_t published() const noexcept;

  private:
    std::atomic<std::uint64_t> reached_{0};
    std::atomic<std::uint64_t> missing_{0};
    SequenceLock lock_;  // for skips
};

}  // namespace telegate
