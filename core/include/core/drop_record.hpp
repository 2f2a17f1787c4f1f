#pragma once

#include "core/sequence_lock.hpp"
#include "core/telemetry_sample.hpp"

#include <atomic>
#include <cstdint>

namespace telegate {

/// What one channel has lost: how many samples, the first and the last of them, and when these two were captured.
struct ChannelDrops {
    std::uint64_t count = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    std::int64_t first_utc_ns = 0;
    std::int64_t last_utc_ns = 0;

    /// What both say together.
    ChannelDrops& operator+=(const ChannelDrops& other) noexcept;
};

/// The same while it grows.
///
/// Threads: add() one writer, in order of `seq`; read(), last_seq() any.
/// Limits:  none.
/// Failure: none. read() waits, without a lock, for a change in progress.
class DropRecord {
  public:
    void add(const TelemetrySample& sample) noexcept;
    /// All of it from one moment.
    [[nodiscard]] ChannelDrops read() const noexcept;
    /// 0: none yet.
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
