#include "processing/limit_alarm.hpp"

#include <algorithm>

namespace telegate::processing {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

}  // namespace

LimitAlarm::LimitAlarm(const ChannelProcessing& processing) noexcept
    : high_(processing.alarm_high.value_or(endless)),
      low_(processing.alarm_low.value_or(-endless)),
      hysteresis_(processing.alarm_hysteresis),
      delay_ns_(processing.alarm_delay.count()),
      clear_delay_ns_(processing.alarm_clear_delay.count()),
      silence_ns_(processing.send_interval_max.count()) {
    memory_.state = processing.alarm_before;
    memory_.seen = processing.alarm_before;
}

void LimitAlarm::continue_from(const LimitAlarm& before, bool means_same) noexcept {
    memory_ = before.memory_;
    if (!means_same || zone_of(memory_.value) != memory_.seen) {
        memory_.seen = memory_.state;
    }
}

bool LimitAlarm::watch(const Reading& reading) noexcept {
    const AlarmState seen_before = memory_.seen;
    if (reading.counts()) {
        memory_.quality = reading.quality;
        memory_.value = reading.value;
        memory_.seen = zone_of(reading.value);
        memory_.since_ns = memory_.seen == seen_before ? std::min(memory_.since_ns, reading.time_ns) : reading.time_ns;
        settle(reading.time_ns);
        const bool is_decisive = reading.value > high_ || reading.value < low_ ||
                                 (!is_near_high(reading.value) && !is_near_low(reading.value));
        memory_.is_confirmed = memory_.is_confirmed || (is_decisive && !crosses_now());
    } else {
        memory_.quality = Quality::bad;
        memory_.seen = memory_.state;
    }
    memory_.crosses = memory_.seen != seen_before;
    return reports(reading.time_ns);
}

bool LimitAlarm::advance(std::int64_t time_ns) noexcept {
    settle(time_ns);
    return memory_.has_reported && memory_.state != memory_.reported_state && reports(time_ns);
}

Quality LimitAlarm::quality() const noexcept {
    const bool is_doubtful =
        memory_.state == AlarmState::unknown || (memory_.state == AlarmState::normal && crosses_now());
    return is_doubtful && memory_.quality == Quality::good ? Quality::uncertain : memory_.quality;
}

std::optional<double> LimitAlarm::limit() const noexcept {
    const bool has_limit =
        (memory_.state == AlarmState::high && high_ < endless) || (memory_.state == AlarmState::low && low_ > -endless);
    return has_limit ? std::optional(memory_.state == AlarmState::high ? high_ : low_) : std::nullopt;
}

/// Within the hysteresis of a limit the state stays as it is, or as it may be.
AlarmState LimitAlarm::zone_of(double value) const noexcept {
    if (value > high_) {
        return AlarmState::high;
    }
    if (value < low_) {
        return AlarmState::low;
    }
    const bool may_be_high = memory_.state == AlarmState::high || !memory_.is_confirmed;
    const bool may_be_low = memory_.state == AlarmState::low || !memory_.is_confirmed;
    const bool stays = (may_be_high && is_near_high(value)) || (may_be_low && is_near_low(value));
    return stays ? memory_.state : AlarmState::normal;
}

void LimitAlarm::settle(std::int64_t time_ns) noexcept {
    if (crosses_now() && time_ns - memory_.since_ns >= delay_of(memory_.seen)) {
        memory_.state = memory_.seen;
        memory_.is_confirmed = true;
    }
}

bool LimitAlarm::reports(std::int64_t time_ns) noexcept {
    const std::int64_t silence = time_ns - memory_.reported_ns;
    const bool is_silent =
        silence_ns_ > 0 && (silence >= silence_ns_ - silence_ns_ / early_share || silence < -silence_ns_);
    const bool is_new = memory_.state != memory_.reported_state || memory_.quality != memory_.reported_quality ||
                        (memory_.reported_crossing && !crosses_now());
    if (memory_.has_reported && !is_new && !is_silent) {
        return false;
    }
    memory_.has_reported = true;
    memory_.reported_state = memory_.state;
    memory_.reported_quality = memory_.quality;
    memory_.reported_crossing = crosses_now();
    memory_.reported_ns = time_ns;
    return true;
}

}  // namespace telegate::processing
