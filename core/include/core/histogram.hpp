#pragma once

#include "core/log_steps.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace telegate {

/// A histogram of durations, in buckets whose width is at most 1/16 of their value.
///
/// Threads: record(): one writer. All others: any; they read the current value of each bucket.
/// Limits: 0 ns to about 18 minutes; longer durations count in the last bucket, and maximum() stays exact. 5 KiB,
/// fixed.
/// Failure: none.
class DurationHistogram {
  public:
    void record(std::chrono::nanoseconds duration) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds maximum() const noexcept;
    /// Returns an upper bound of the given share (0 to 1) of the durations, never above maximum(). Returns zero if
    /// there are none.
    [[nodiscard]] std::chrono::nanoseconds quantile(double share) const noexcept;

  private:
    using Steps = LogSteps<4>;                                // 16 steps per power of two
    static constexpr std::size_t buckets = Steps::count(40);  // 2^40 ns

    std::array<std::atomic<std::uint64_t>, buckets> counts_{};
    std::atomic<std::uint64_t> maximum_ns_{0};
};

}  // namespace telegate
