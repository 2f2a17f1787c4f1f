#include "processing/limit_alarm.hpp"

#include <algorithm>

namespace telegate::processing {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

}  // namespace

std::string_view to_string(AlarmState state) noexcept {
    switch (state) {
        case AlarmState::normal: return "normal";
        case AlarmState::high: return "high";
        case AlarmState::low: return "low";
    }
    return "";
}

LimitAlarm::LimitAlarm(const ChannelProcessing& processing) noexcept
    : high_(processing.alarm_high.value_or(endless)),
      low_(processing.alarm_low.value_or(-endless)),
      hysteresis_(processing.alarm_hysteresis),
      delay_ns_(processing.alarm_delay.count()),
      clear_delay_ns_(processing.alarm_clear_delay.count()),
      silence_ns_(processing.silence_max.count()) {}

bool LimitAlarm::watch(const Reading& reading) noexcept {
    const AlarmState seen_before = seen_;
    if (reading.counts()) {
        quality_ = reading.quality;
        seen_ = zone_of(reading.value);
        since_ns_ = seen_ == seen_before ? std::min(since_ns_, reading.time_ns) : reading.time_ns;
        settle(reading.time_ns);
    } else {
        quality_ = Quality::bad;
        seen_ = state_;
    }
    crosses_ = seen_ != seen_before;
    return tells(reading.time_ns);
}

bool LimitAlarm::advance(std::int64_t time_ns) noexcept {
    settle(time_ns);
    return has_told_ && state_ != told_state_ && tells(time_ns);
}

AlarmState LimitAlarm::zone_of(double value) const noexcept {
    const double high = state_ == AlarmState::high ? high_ - hysteresis_ : high_;
    const double low = state_ == AlarmState::low ? low_ + hysteresis_ : low_;
    if (value > high) {
        return AlarmState::high;
    }
    return value < low ? AlarmState::low : AlarmState::normal;
}

void LimitAlarm::settle(std::int64_t time_ns) noexcept {
    if (seen_ != state_ && time_ns - since_ns_ >= delay_of(seen_)) {
        state_ = seen_;
    }
}

bool LimitAlarm::tells(std::int64_t time_ns) noexcept {
    const std::int64_t silence = time_ns - told_ns_;
    const bool is_silent =
        silence_ns_ > 0 && (silence >= silence_ns_ - silence_ns_ / early_share || silence < -silence_ns_);
    if (has_told_ && state_ == told_state_ && quality_ == told_quality_ && !is_silent) {
        return false;
    }
    has_told_ = true;
    told_state_ = state_;
    told_quality_ = quality_;
    told_ns_ = time_ns;
    return true;
}

}  // namespace telegate::processing
