#pragma once

#include "core/sequence_lock.hpp"
#include "core/telemetry_sample.hpp"

#include <atomic>
#include <cstdint>

namespace telegate {

/// Samples that one channel has lost: their number, and the sequence number and capture time of the first and the last.
struct ChannelDrops {
    std::uint64_t count = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    std::int64_t first_utc_ns = 0;
    std::int64_t last_utc_ns = 0;

    /// Merges the losses of `other` into this.
    ChannelDrops& operator+=(const ChannelDrops& other) noexcept;
};

/// A ChannelDrops that one thread extends.
///
/// Threads: add(): one writer, in order of `seq`. read(), last_seq(): any.
/// Limits: none.
/// Failure: none. read() waits, without a lock, for a change in progress.
class DropRecord {
  public:
    void add(const TelemetrySample& sample) noexcept;
    /// Returns a consistent copy.
    [[nodiscard]] ChannelDrops read() const noexcept;
    /// Returns the sequence number of the last lost sample, or 0 if there is none.
    [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_seq_.load(std::memory_order_acquire); }

  private:
    SequenceLock lock_;
    std::atomic<std::uint64_t> count_{0};
    std::atomic<std::uint64_t> first_seq_{0};
    std::atomic<std::uint64_t> last_seq_{0};
    std::atomic<std::int64_t> first_utc_ns_{0};
    std::atomic<std::int64_t> last_utc_ns_{0};
};

}  // namespace telegate
