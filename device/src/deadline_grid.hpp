#pragma once

#include "core/clock.hpp"
#include "device/sampler.hpp"

#include <cstdint>
#include <optional>

namespace telegate {

/// The parameters of a deadline grid.
struct GridRule {
    Duration interval{0};
    Alignment alignment = Alignment::start;
    Duration offset{0};       // less than the interval
    std::uint32_t place = 0;  // Alignment::spread only: each number has its own offset within the interval

    bool operator==(const GridRule&) const = default;
};

/// The deadlines of one device: times on the monotonic clock, one interval apart, without drift.
///
/// With Alignment::wall the deadlines are whole multiples of the interval on the wall clock, and are realigned after a
/// step of that clock. Realigning moves them by at most half an interval, so two readings are between half and one and
/// a half intervals apart.
///
/// Threads: one.
/// Limits: none.
/// Failure: none.
class DeadlineGrid {
  public:
    /// The wall clock counts as stepped if it is off by more than this, or by more than a quarter of the interval.
    /// Smaller differences can occur between two clock readings.
    static constexpr Duration step_min = std::chrono::milliseconds(1);

    /// Sets the parameters. If they change, the grid restarts at the next begin().
    void set_rule(GridRule rule) noexcept;
    void forget() noexcept { due_.reset(); }
    [[nodiscard]] const GridRule& rule() const noexcept { return rule_; }

    [[nodiscard]] bool has_begun() const noexcept { return due_.has_value(); }
    /// Sets the first deadline, at or after `now`. `utc_less_mono_ns` is the wall clock minus the monotonic clock.
    void begin(MonoTime now, std::int64_t utc_less_mono_ns) noexcept;
    [[nodiscard]] MonoTime due() const noexcept { return *due_; }
    /// Advances to the first deadline after `now`. Returns how many deadlines before it were missed.
    std::uint64_t advance(MonoTime now) noexcept;
    /// Returns whether the deadlines are misaligned with the wall clock. Always false without Alignment::wall.
    [[nodiscard]] bool is_off(std::int64_t utc_less_mono_ns) const noexcept;
    void realign(std::int64_t utc_less_mono_ns) noexcept;

  private:
    [[nodiscard]] Duration misfit(std::int64_t utc_less_mono_ns) const noexcept;

    GridRule rule_;
    std::optional<MonoTime> due_;
};

/// Returns the wall clock minus the monotonic clock, in ns. Accurate to microseconds unless the thread is preempted
/// repeatedly.
[[nodiscard]] std::int64_t utc_less_mono_ns(const Clock& clock) noexcept;

}  // namespace telegate
