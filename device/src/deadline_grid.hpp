#pragma once

#include "core/clock.hpp"
#include "device/alignment.hpp"

#include <cstdint>
#include <optional>

namespace telegate {

/// What the deadlines of a device are made of.
struct GridRule {
    Duration interval{0};
    Alignment alignment = Alignment::start;
    Duration offset{0};       // less than the interval
    std::uint32_t place = 0;  // with Alignment::spread: each number has a place of its own in the interval

    bool operator==(const GridRule&) const = default;
};

/// The deadlines of one device: points on the monotonic clock, one interval apart, so that nothing drifts.
///
/// With Alignment::wall they lie on whole multiples of the interval by the wall clock, and move there again after a
/// step of that clock: by half an interval at most, so that two readings are between half and one and a half intervals
/// apart.
///
/// Threads: one.
/// Limits:  none.
/// Failure: none.
class DeadlineGrid {
  public:
    /// The wall clock is taken to have stepped when it is off by more, or by a quarter of the interval: that much two
    /// looks at clocks may be apart.
    static constexpr Duration step_min = std::chrono::milliseconds(1);

    /// The first deadline is found at the next begin().
    void set_rule(GridRule rule) noexcept;
    void forget() noexcept { due_.reset(); }
    [[nodiscard]] const GridRule& rule() const noexcept { return rule_; }

    [[nodiscard]] bool has_begun() const noexcept { return due_.has_value(); }
    /// The first deadline, at `now` or behind. `utc_less_mono_ns`: how far the wall clock is ahead of the monotonic
    /// one.
    void begin(MonoTime now, std::int64_t utc_less_mono_ns) noexcept;
    [[nodiscard]] MonoTime due() const noexcept { return *due_; }
    /// Moves on to the first deadline behind `now`. Returns how many before it passed unserved.
    std::uint64_t advance(MonoTime now) noexcept;
    /// With Alignment::wall: whether the deadlines lie elsewhere by the wall clock.
    [[nodiscard]] bool is_off(std::int64_t utc_less_mono_ns) const noexcept;
    void realign(std::int64_t utc_less_mono_ns) noexcept;

  private:
    [[nodiscard]] Duration misfit(std::int64_t utc_less_mono_ns) const noexcept;

    GridRule rule_;
    std::optional<MonoTime> due_;
};

/// How far the wall clock is ahead of the monotonic one, in ns. Exact to some microseconds, unless the thread is put
/// aside again and again just then.
[[nodiscard]] std::int64_t utc_less_mono_ns(const Clock& clock) noexcept;

}  // namespace telegate
