#pragma once

#include "device/processing.hpp"
#include "processing/limit_alarm.hpp"
#include "processing/rate_of_change.hpp"
#include "processing/reading.hpp"
#include "processing/send_gate.hpp"
#include "processing/value_window.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace telegate::processing {

/// What a reading has led to.
struct Outcome {
    std::optional<FilterReason> held_back{};  // none: it is sent as `reading`
    Reading reading{};
    bool window_closed = false;  // before it: ChannelPipeline::window()
    bool alarm_tells = false;    // with it: ChannelPipeline::alarm()
    bool alarm_crosses = false;  // the reading has begun or broken a crossing of a limit
};

/// All that is done to the readings of one channel: scale, range, deadband, rate limit, rate of change, window, alarm,
/// and at the end decimals, so that no stage reckons with what they cut off.
///
/// Each stage sees what those before it have let through. One thing goes past that order: where no rate is derived, the
/// alarm sees every value in range, and one that begins or breaks a crossing of its limits is not held back by the
/// deadband or the rate limit; so neither can hide an alarm.
///
/// All times are those of the readings, on the monotonic clock.
///
/// Threads: one.
/// Limits:  no memory but its own, which is made by the constructor.
/// Failure: the constructor may throw std::bad_alloc; nothing else fails. A value that is not finite, or does not stay
/// so, becomes a reading without one, of quality bad.
class ChannelPipeline {
  public:
    explicit ChannelPipeline(const ChannelProcessing& processing);

    /// Continues from the state of another pipeline of the channel by its own rules: what has been sent, the alarm, and
    /// where the values mean the same and the rules are equal, rate and window.
    void continue_from(const ChannelPipeline& before) noexcept;
    /// The readings from now on are of a time when the wall clock is so far ahead of the monotonic one. Only with
    /// has_later_stages().
    void note_wall_clock(std::int64_t utc_less_mono_ns) noexcept { later_->utc_less_mono_ns = utc_less_mono_ns; }

    [[nodiscard]] Outcome take(Reading reading) noexcept {
        kind_ = ReadingKind::number;
        if (later_ != nullptr) {
            return take_through_all(reading);
        }
        if (!pass_range(reading)) {
            return {FilterReason::range, reading};
        }
        if (!gate_.is_open()) {
            if (const std::optional<FilterReason> reason = gate_.holds_back(reading, ReadingKind::number)) {
                return {reason, reading};
            }
            gate_.sent(reading, reading.quality);
        }
        return {std::nullopt, reading};
    }
    /// 0 or 1. Passes the rate limit and the alarm.
    [[nodiscard]] Outcome take_logical(const Reading& reading) noexcept;
    /// Passes the rate limit.
    [[nodiscard]] Outcome take_text(const Reading& reading) noexcept;
    /// No value: of the kind that the last one had.
    [[nodiscard]] Outcome take_absent(std::int64_t time_ns, Quality quality) noexcept;
    /// Time has passed. Tells others at most; nothing is sent on the channel itself.
    [[nodiscard]] Outcome advance(std::int64_t time_ns) noexcept;

    /// When advance() will have something to do; the greatest number: not before another reading.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        const std::int64_t never = std::numeric_limits<std::int64_t>::max();
        return later_ == nullptr ? never
                                 : std::min(later_->window ? later_->window->end_ns() : never,
                                            later_->alarm ? later_->alarm->due_ns() : never);
    }
    [[nodiscard]] bool has_later_stages() const noexcept { return later_ != nullptr; }
    /// To the decimals of the channel. Only with later stages.
    [[nodiscard]] double rounded(double value) const noexcept;
    [[nodiscard]] bool makes_reals() const noexcept { return makes_reals_; }
    [[nodiscard]] const WindowResult& window() const noexcept { return later_->window->closed(); }
    [[nodiscard]] const LimitAlarm& alarm() const noexcept { return *later_->alarm; }

  private:
    /// What few channels have is apart, so that what all have stays together in the cache.
    struct LaterStages {
        std::optional<RateOfChange> rate;
        std::optional<ValueWindow> window;
        std::optional<LimitAlarm> alarm;
        std::int64_t utc_less_mono_ns = 0;
        double rounding = 0.0;  // 1 over what values are rounded to: 100 for two decimals; 0: they are not
    };

    /// Scales it. False: it is dropped.
    [[nodiscard]] bool pass_range(Reading& reading) const noexcept {
        reading.value = reading.value * scale_ + offset_;
        const bool in_range = reading.value >= valid_min_ && reading.value <= valid_max_;
        return in_range || !reading.has_value || pass_out_of_range(reading);
    }
    [[nodiscard]] bool pass_out_of_range(Reading& reading) const noexcept;
    [[nodiscard]] Outcome take_through_all(Reading reading) noexcept;
    void pass_later_stages(Outcome& outcome, double raw, bool crosses) noexcept;

    double scale_;
    double offset_;
    double valid_min_;  // no less than the least finite number, so that no infinity is in range
    double valid_max_;
    SendGate gate_;
    std::unique_ptr<LaterStages> later_;  // null: none
    ReadingKind kind_ = ReadingKind::number;
    bool drops_;        // what is out of range
    bool makes_reals_;  // of whole numbers
    bool window_raw_;
};

}  // namespace telegate::processing
