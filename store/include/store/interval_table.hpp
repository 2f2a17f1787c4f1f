#pragma once

#include "store/block.hpp"

#include "core/telemetry_sample.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace telegate::store {

/// The samples of a channel in one interval of time.
struct Interval {
    std::uint64_t count = 0;    // samples
    std::uint64_t numbers = 0;  // samples with a finite number, or a boolean as 0 or 1; the next three are of these
    double min = 0;
    double max = 0;
    double mean = 0;
    std::int64_t first_ns = 0;  // times of the first and the last sample, in the order of the log
    std::int64_t last_ns = 0;
    std::uint64_t missing = 0;   // samples in gaps
    std::uint64_t not_good = 0;  // samples with a quality other than good
};

/// Collects the samples of one channel in intervals of the same length, which begin at multiples of it since 1970 UTC.
///
/// Threads: one.
/// Limits:  intervals_max intervals; intervals without samples and gaps take no memory.
/// Failure: add() throws std::bad_alloc.
class IntervalTable {
  public:
    /// By start. Samples need not be in the order of their times, because the clock may have been set back.
    using Intervals = std::map<std::int64_t, Interval>;

    IntervalTable(std::chrono::nanoseconds length, std::size_t intervals_max)
        : length_ns_(length.count()), intervals_max_(intervals_max) {}

    /// Adds samples and the gaps between them, in the order of the log. A gap belongs to the interval of the sample
    /// before it; if there is none, of the sample after it. Returns false if there are too many intervals.
    [[nodiscard]] bool add(std::span<const TelemetrySample> samples, std::span<const BlockGap> gaps);
    [[nodiscard]] const Intervals& intervals() const noexcept { return intervals_; }

  private:
    [[nodiscard]] Interval& interval_at(std::int64_t time_ns);
    void add(const LogGap& gap);
    void add(const TelemetrySample& sample);

    const std::int64_t length_ns_;
    const std::size_t intervals_max_;
    Intervals intervals_;
    Intervals::iterator last_ = intervals_.end();  // of the last sample
    std::uint64_t missing_ = 0;                    // before the first sample
};

}  // namespace telegate::store
