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

/// The times of one reading.
struct ReadingTimes {
    std::int64_t reading_ns = 0;  // the time of the reading on the clock that the stages use
    std::int64_t utc_ns = 0;
    std::int64_t arrival_ns = 0;  // monotonic
    bool is_given = false;        // by the sender: reading_ns is utc_ns
};

/// Processes the readings of one channel in stages: scale, range, deadband, rate limit, rate of change, window, alarm.
/// Decimals are rounded last, so no stage uses a rounded value.
///
/// Each stage sees only what the earlier stages passed. One exception: if no rate is derived, the alarm sees every
/// value in range, and a value that begins or breaks a crossing of a limit is not suppressed by the deadband or the
/// rate limit. Neither stage can therefore hide an alarm.
///
/// All times are those of the readings: on the monotonic clock, or as given by the sender. The clock of a sender is
/// assumed to continue from its last reading. Readings may arrive in batches, so a window of given times waits for
/// later readings: for its length, or a quarter more than the longest pause between readings so far, but not longer
/// than hold_max_ns. If a channel changes between both kinds of times, the rate and the alarm delay restart.
///
/// Threads: one.
/// Limits: all memory is allocated by the constructor.
/// Failure: the constructor may throw std::bad_alloc; nothing else fails. A value that is or becomes infinite or NaN is
/// replaced by a reading without a value and with quality bad.
class ChannelPipeline {
  public:
    static constexpr std::int64_t hold_max_ns = 3'600'000'000'000;

    explicit ChannelPipeline(const ChannelProcessing& processing);

    /// Continues from the state of another pipeline of the channel, with this pipeline's rules: the last sent value and
    /// the alarm, and, if values have the same meaning and the rules are equal, the rate and the window.
    void continue_from(const ChannelPipeline& before) noexcept;
    void forget_alarm() noexcept {
        if (later_ != nullptr) {
            later_->alarm.reset();
        }
    }
    /// Sets the times of the next reading. Requires has_later_stages().
    void record_times(const ReadingTimes& times) noexcept {
        later_->utc_less_mono_ns = times.utc_ns - times.reading_ns;
        if (times.is_given || later_->is_time_given) {
            record_given(times);
        }
    }
    /// Returns whether the time of the last reading was given by the sender. Requires has_later_stages().
    [[nodiscard]] bool is_time_given() const noexcept { return later_->is_time_given; }

    [[nodiscard]] Outcome process(Reading reading) noexcept {
        kind_ = ReadingKind::number;
        if (later_ != nullptr) {
            return process_all_stages(reading);
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
    [[nodiscard]] Outcome process_logical(const Reading& reading) noexcept;
    /// Processes a text. Only the rate limit applies.
    [[nodiscard]] Outcome process_text(const Reading& reading) noexcept;
    /// Processes a reading without a value. It has the kind of the last reading.
    [[nodiscard]] Outcome process_absent(std::int64_t time_ns, Quality quality) noexcept;
    /// Processes the passage of time. Can close a window or change the alarm; sends nothing on the channel itself.
    /// `time_ns` is monotonic.
    [[nodiscard]] Outcome advance(std::int64_t time_ns) noexcept;

    /// Returns when advance() is needed, on the monotonic clock; the maximum: not before the next reading.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        return later_ == nullptr ? never_ns : std::min(window_due_ns(), alarm_due_ns());
    }
    [[nodiscard]] bool has_later_stages() const noexcept { return later_ != nullptr; }
    /// Rounds to the decimals of the channel. Requires has_later_stages().
    [[nodiscard]] double rounded(double value) const noexcept;
    [[nodiscard]] bool makes_reals() const noexcept { return makes_reals_; }
    [[nodiscard]] const WindowResult& window() const noexcept { return later_->window->closed(); }
    [[nodiscard]] const LimitAlarm& alarm() const noexcept { return *later_->alarm; }

  private:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    /// Stages that few channels have. Stored separately, so the stages that all channels have stay together in the
    /// cache.
    struct LaterStages {
        std::optional<RateOfChange> rate;
        std::optional<ValueWindow> window;
        std::optional<LimitAlarm> alarm;
        std::int64_t utc_less_mono_ns = 0;
        bool is_time_given = false;
        std::int64_t lag_ns = 0;  // given times: the arrival of the last reading minus its time
        std::int64_t arrival_ns = 0;
        std::int64_t hold_ns = 0;  // given times: how long an ended window waits for readings
        double rounding = 0.0;     // reciprocal of the rounding step: 100 for two decimals; 0: no rounding
    };

    /// Scales the reading. Returns false if it is dropped.
    [[nodiscard]] bool pass_range(Reading& reading) const noexcept {
        reading.value = reading.value * scale_ + offset_;
        const bool in_range = reading.value >= valid_min_ && reading.value <= valid_max_;
        return in_range || !reading.has_value || pass_out_of_range(reading);
    }
    [[nodiscard]] bool pass_out_of_range(Reading& reading) const noexcept;
    void record_given(const ReadingTimes& times) noexcept;
    void add_to_window(Reading reading) noexcept;
    [[nodiscard]] std::int64_t window_due_ns() const noexcept {
        const std::int64_t end_ns = later_->window ? later_->window->end_ns() : never_ns;
        return !later_->is_time_given || end_ns == never_ns
                   ? end_ns
                   : std::max(end_ns + later_->lag_ns, later_->arrival_ns + later_->hold_ns);
    }
    [[nodiscard]] std::int64_t alarm_due_ns() const noexcept {
        const std::int64_t due_ns = later_->alarm ? later_->alarm->due_ns() : never_ns;
        return due_ns == never_ns ? never_ns : due_ns + later_->lag_ns;
    }
    [[nodiscard]] Outcome process_all_stages(Reading reading) noexcept;
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
