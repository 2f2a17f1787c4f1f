#pragma once

#include "device/processing.hpp"
#include "processing/limit_alarm.hpp"
#include "processing/rate_of_change.hpp"
#include "processing/reading.hpp"
#include "processing/send_gate.hpp"
#include "processing/value_window.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace telegate::processing {

/// The result of processing a reading.
struct Outcome {
    std::optional<FilterReason> suppressed{};  // nullopt: `reading` is sent
    Reading reading{};
    bool window_closed = false;  // see ChannelPipeline::window(); precedes the reading
    bool alarm_tells = false;    // see ChannelPipeline::alarm(); follows the reading
    bool alarm_crosses = false;  // the reading began or broke a crossing of a limit
};

/// Processes the readings of one channel in stages: scale, range, deadband, rate limit, rate of change, window, alarm.
/// Decimals are rounded last, so no stage uses a rounded value.
///
/// Each stage sees only what the earlier stages passed. One exception: if no rate is derived, the alarm sees every
/// value in range, and a value that begins or breaks a crossing of a limit is not suppressed by the deadband or the
/// rate limit. Neither stage can therefore hide an alarm.
///
/// All times are those of the readings, on the monotonic clock.
///
/// Threads: one.
/// Limits: all memory is allocated by the constructor.
/// Failure: the constructor may throw std::bad_alloc; nothing else fails. A value that is or becomes infinite or NaN is
/// replaced by a reading without a value and with quality bad.
class ChannelPipeline {
  public:
    explicit ChannelPipeline(const ChannelProcessing& processing);

    /// Continues from the state of another pipeline of the channel, with this pipeline's rules: the last sent value and
    /// the alarm, and, if values have the same meaning and the rules are equal, the rate and the window.
    void continue_from(const ChannelPipeline& before) noexcept;
    /// Sets the wall clock minus the monotonic clock for the following readings. Requires has_later_stages().
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
    /// Processes a boolean as 0 or 1. Only the rate limit and the alarm apply.
    [[nodiscard]] Outcome take_logical(const Reading& reading) noexcept;
    /// Processes a text. Only the rate limit applies.
    [[nodiscard]] Outcome take_text(const Reading& reading) noexcept;
    /// Processes a reading without a value. It has the kind of the last reading.
    [[nodiscard]] Outcome take_absent(std::int64_t time_ns, Quality quality) noexcept;
    /// Processes the passage of time. Can close a window or change the alarm; sends nothing on the channel itself.
    [[nodiscard]] Outcome advance(std::int64_t time_ns) noexcept;

    /// Returns when advance() is needed; the maximum: not before the next reading.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        const std::int64_t never = std::numeric_limits<std::int64_t>::max();
        return later_ == nullptr ? never
                                 : std::min(later_->window ? later_->window->end_ns() : never,
                                            later_->alarm ? later_->alarm->due_ns() : never);
    }
    [[nodiscard]] bool has_later_stages() const noexcept { return later_ != nullptr; }
    /// Rounds to the decimals of the channel. Requires has_later_stages().
    [[nodiscard]] double rounded(double value) const noexcept;
    [[nodiscard]] bool makes_reals() const noexcept { return makes_reals_; }
    [[nodiscard]] const WindowResult& window() const noexcept { return later_->window->closed(); }
    [[nodiscard]] const LimitAlarm& alarm() const noexcept { return *later_->alarm; }

  private:
    /// Stages that few channels have. Stored separately, so the stages that all channels have stay together in the
    /// cache.
    struct LaterStages {
        std::optional<RateOfChange> rate;
        std::optional<ValueWindow> window;
        std::optional<LimitAlarm> alarm;
        std::int64_t utc_less_mono_ns = 0;
        double rounding = 0.0;  // reciprocal of the rounding step: 100 for two decimals; 0: no rounding
    };

    /// Scales the reading. Returns false if it is dropped.
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
    double valid_min_;  // at least the lowest finite number, so no infinity is in range
    double valid_max_;
    SendGate gate_;
    std::unique_ptr<LaterStages> later_;  // null: none
    ReadingKind kind_ = ReadingKind::number;
    bool drops_;        // drops values out of range
    bool makes_reals_;  // turns whole numbers into reals
    bool window_raw_;
};

}  // namespace telegate::processing
