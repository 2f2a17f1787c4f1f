#pragma once

#include "processing/channel_pipeline.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace telegate::test {

/// A second implementation of processing. It keeps all readings and searches them again for each new one. Times must
/// advance.
class SlowModel {
  public:
    struct Result {
        std::optional<FilterReason> suppressed;
        processing::Reading sent;
        std::vector<double> window;  // of the values in the closed window
        bool window_closed = false;
        std::optional<AlarmState> state;  // as reported by the alarm; none: the reading had no value
        bool state_is_doubtful = false;   // the state is unknown, or normal with values beyond a limit
        bool alarm_tells = false;
    };

    explicit SlowModel(ChannelProcessing how) : how_(std::move(how)) {}

    Result process(const processing::Reading& given) {
        Result result;
        close_window(given.time_ns, result);
        processing::Reading seen = given;
        if (seen.has_value) {
            seen.value = seen.value * how_.scale + how_.offset;
            const bool is_out =
                (how_.valid_min && seen.value < *how_.valid_min) || (how_.valid_max && seen.value > *how_.valid_max);
            if (is_out && how_.out_of_range == OutOfRange::drop) {
                result.suppressed = FilterReason::range;
                return result;
            }
            if (is_out && seen.quality == Quality::good) {
                seen.quality = Quality::uncertain;
            }
        }
        const bool crosses = how_.derive == Derive::none && how_.has_alarm() && watch(seen, result);
        result.suppressed = crosses ? std::nullopt : reason_to_hold(seen);
        if (result.suppressed) {
            return result;
        }
        result.sent = derived(seen, given.value);
        if (how_.derive != Derive::none && how_.has_alarm()) {
            watch(result.sent, result);
        }
        sent_.push_back({seen, result.sent.quality});
        if (how_.has_window()) {
            window_.push_back(result.sent);
            result.suppressed = how_.window_raw ? std::nullopt : std::optional(FilterReason::window);
        }
        return result;
    }

    Result advance(std::int64_t time_ns) {
        Result result;
        close_window(time_ns, result);
        if (settle(time_ns)) {
            report(time_ns, result);
        }
        return result;
    }

  private:
    struct Sent {
        processing::Reading reading;
        Quality as;
    };
    struct Zone {
        AlarmState zone;
        std::int64_t since_ns;
    };
    struct Told {
        AlarmState state;
        std::optional<Quality> quality;  // none: the reading had no value
        bool crossing;
        std::int64_t time_ns;
    };

    void close_window(std::int64_t time_ns, Result& result) {
        const std::int64_t length = how_.window.count();
        if (window_.empty() || window_.front().time_ns / length == time_ns / length) {
            return;
        }
        for (const processing::Reading& each : window_) {
            if (each.counts()) {
                result.window.push_back(each.value);
            }
        }
        result.window_closed = true;
        window_.clear();
    }

    [[nodiscard]] std::optional<FilterReason> reason_to_hold(const processing::Reading& seen) const {
        if (sent_.empty() || sent_.back().as != seen.quality) {
            return std::nullopt;
        }
        const std::int64_t silence = how_.send_interval_max.count();
        const bool is_silent = silence > 0 && seen.time_ns - sent_.back().reading.time_ns >= silence - silence / 16;
        if ((how_.deadband > 0 || how_.deadband_percent > 0) && says_the_same(seen) && !is_silent) {
            return FilterReason::deadband;
        }
        if (how_.send_interval_min.count() > 0 && seen.time_ns < due() - how_.send_interval_min.count() / 16) {
            return FilterReason::rate_limit;
        }
        return std::nullopt;
    }

    [[nodiscard]] bool says_the_same(const processing::Reading& seen) const {
        if (!seen.counts()) {
            return true;
        }
        const auto last =
            std::find_if(sent_.rbegin(), sent_.rend(), [](const Sent& each) { return each.reading.counts(); });
        if (last == sent_.rend()) {
            return false;
        }
        const double before = last->reading.value;
        const double band = std::max(how_.deadband, how_.deadband_percent * 0.01 * std::abs(before));
        return std::abs(seen.value - before) <= band;
    }

    /// When the rate limit passes the next reading: one interval after the previous due time, if a reading came then.
    [[nodiscard]] std::int64_t due() const {
        const std::int64_t interval = how_.send_interval_min.count();
        std::int64_t due = sent_.front().reading.time_ns + interval;
        for (std::size_t i = 1; i < sent_.size(); ++i) {
            const std::int64_t time = sent_[i].reading.time_ns;
            due = (std::abs(due - time) <= interval / 16 ? due : time) + interval;
        }
        return due;
    }

    [[nodiscard]] processing::Reading derived(const processing::Reading& seen, double raw) {
        if (how_.derive == Derive::none) {
            return seen;
        }
        processing::Reading made = seen;
        if (!seen.counts()) {
            made.has_value = false;
            return made;
        }
        counted_.push_back({seen, raw});
        if (counted_.size() == 1) {
            made.has_value = false;
            made.quality = Quality::bad;
            return made;
        }
        const auto& [before, raw_before] = counted_[counted_.size() - 2];
        double step = seen.value - before.value;
        if (how_.derive == Derive::counter_rate && raw < raw_before) {
            step = (raw + 4294967296.0 - raw_before) * how_.scale;
            if (raw < 0 || raw_before >= 4294967296.0 || raw + 4294967296.0 - raw_before >= 2147483648.0) {
                made.has_value = false;
                made.quality = Quality::bad;
                return made;
            }
        }
        made.value = step * 1e9 / static_cast<double>(seen.time_ns - before.time_ns);
        made.quality = std::max(before.quality, seen.quality);
        return made;
    }

    /// Returns whether the reading begins or breaks a crossing.
    bool watch(const processing::Reading& seen, Result& result) {
        const AlarmState zone_before = zones_.empty() ? state_ : zones_.back().zone;
        if (seen.counts()) {
            quality_ = seen.quality;
            const AlarmState zone = zone_of(seen.value);
            if (zone != zone_before || zones_.empty()) {
                zones_.push_back({zone, seen.time_ns});
            }
            settle(seen.time_ns);
        } else {
            quality_ = std::nullopt;
            zones_.clear();
        }
        const AlarmState zone_after = zones_.empty() ? state_ : zones_.back().zone;
        const std::int64_t silence = how_.send_interval_max.count();
        const bool is_silent =
            silence > 0 && !reported_.empty() && seen.time_ns - reported_.back().time_ns >= silence - silence / 16;
        if (reported_.empty() || reported_.back().state != state_ || reported_.back().quality != quality_ ||
            is_silent || (reported_.back().crossing && !crosses())) {
            report(seen.time_ns, result);
        }
        return zone_before != zone_after;
    }

    [[nodiscard]] AlarmState zone_of(double value) const {
        if (how_.alarm_high && value > *how_.alarm_high) {
            return AlarmState::high;
        }
        if (how_.alarm_low && value < *how_.alarm_low) {
            return AlarmState::low;
        }
        const bool near_high = how_.alarm_high && value > *how_.alarm_high - how_.alarm_hysteresis;
        const bool near_low = how_.alarm_low && value < *how_.alarm_low + how_.alarm_hysteresis;
        switch (state_) {
            case AlarmState::high: return near_high ? AlarmState::high : AlarmState::normal;
            case AlarmState::low: return near_low ? AlarmState::low : AlarmState::normal;
            case AlarmState::unknown: return near_high || near_low ? AlarmState::unknown : AlarmState::normal;
            default: return AlarmState::normal;
        }
    }

    /// Returns whether the state has changed.
    bool settle(std::int64_t time_ns) {
        if (zones_.empty() || zones_.back().zone == state_) {
            return false;
        }
        const Duration delay = zones_.back().zone == AlarmState::normal ? how_.alarm_clear_delay : how_.alarm_delay;
        if (time_ns < zones_.back().since_ns + delay.count()) {
            return false;
        }
        state_ = zones_.back().zone;
        return true;
    }

    void report(std::int64_t time_ns, Result& result) {
        result.alarm_tells = true;
        result.state = quality_ ? std::optional(state_) : std::nullopt;
        result.state_is_doubtful = state_ == AlarmState::unknown || (state_ == AlarmState::normal && crosses());
        reported_.push_back({state_, quality_, crosses(), time_ns});
    }
    [[nodiscard]] bool crosses() const { return !zones_.empty() && zones_.back().zone != state_; }

    const ChannelProcessing how_;
    std::vector<Sent> sent_;                                       // readings that passed deadband and rate limit
    std::vector<std::pair<processing::Reading, double>> counted_;  // inputs of the rates
    std::vector<processing::Reading> window_;
    std::vector<Zone> zones_;
    std::vector<Told> reported_;
    AlarmState state_ = AlarmState::unknown;
    std::optional<Quality> quality_;
};

}  // namespace telegate::test
