#pragma once

#include "device/processing.hpp"
#include "processing/reading.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

namespace telegate::processing {

enum class AlarmState : std::uint8_t { normal, high, low };
[[nodiscard]] std::string_view to_string(AlarmState state) noexcept;

/// Watches whether values are above one limit or below another.
///
/// A limit is crossed by a value beyond it, and crossed back by one that is within it by the hysteresis. A crossing
/// counts when it has lasted for its delay without a break. Readings that do not count break it, and leave the state as
/// it is; until the next one that does, the state is unknown.
///
/// Threads: one. Limits: no memory but its own. Failure: none.
class LimitAlarm {
  public:
    explicit LimitAlarm(const ChannelProcessing& processing) noexcept;

    /// Whether there is something to tell: another state or quality, or the silence has lasted long enough.
    [[nodiscard]] bool watch(const Reading& reading) noexcept;
    /// The same when nothing has come.
    [[nodiscard]] bool advance(std::int64_t time_ns) noexcept;

    /// Whether the last reading began or broke a crossing.
    [[nodiscard]] bool crosses() const noexcept { return crosses_; }
    [[nodiscard]] AlarmState state() const noexcept { return state_; }
    /// bad: the state is unknown.
    [[nodiscard]] Quality quality() const noexcept { return quality_; }
    /// When a crossing will have lasted for its delay; the greatest number while there is none.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        return seen_ == state_ ? std::numeric_limits<std::int64_t>::max() : since_ns_ + delay_of(seen_);
    }

  private:
    [[nodiscard]] AlarmState zone_of(double value) const noexcept;
    [[nodiscard]] std::int64_t delay_of(AlarmState state) const noexcept {
        return state == AlarmState::normal ? clear_delay_ns_ : delay_ns_;
    }
    void settle(std::int64_t time_ns) noexcept;
    [[nodiscard]] bool tells(std::int64_t time_ns) noexcept;

    const double high_;
    const double low_;
    const double hysteresis_;
    const std::int64_t delay_ns_;
    const std::int64_t clear_delay_ns_;
    const std::int64_t silence_ns_;
    AlarmState state_ = AlarmState::normal;
    AlarmState seen_ = AlarmState::normal;  // where the values are, if not for long enough yet
    std::int64_t since_ns_ = 0;             // they have been there
    bool crosses_ = false;
    Quality quality_ = Quality::bad;
    bool has_told_ = false;
    AlarmState told_state_ = AlarmState::normal;
    Quality told_quality_ = Quality::bad;
    std::int64_t told_ns_ = 0;
};

}  // namespace telegate::processing
