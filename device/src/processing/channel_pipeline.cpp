#include "processing/channel_pipeline.hpp"

#include <cmath>
#include <utility>

namespace telegate::processing {
namespace {

constexpr double greatest = std::numeric_limits<double>::max();

}  // namespace

ChannelPipeline::ChannelPipeline(const ChannelProcessing& processing)
    : scale_(processing.scale),
      offset_(processing.offset),
      valid_min_(processing.valid_min.value_or(-greatest)),
      valid_max_(processing.valid_max.value_or(greatest)),
      gate_(processing),
      drops_(processing.out_of_range == OutOfRange::drop),
      makes_reals_(scale_ != 1.0 || offset_ != 0.0 || processing.derive != Derive::none),
      window_raw_(processing.window_raw) {
    const bool shows_otherwise = processing.decimals || !processing.texts.empty();
    if (processing.derive == Derive::none && !processing.has_window() && !processing.has_alarm() && !shows_otherwise) {
        return;
    }
    later_ = std::make_unique<LaterStages>();
    if (processing.decimals) {
        later_->rounding = std::pow(10.0, *processing.decimals);
    }
    if (processing.derive != Derive::none) {
        later_->rate.emplace(processing);
    }
    if (processing.has_window()) {
        later_->window.emplace(processing.window, processing.window_align);
    }
    if (processing.has_alarm()) {
        later_->alarm.emplace(processing);
    }
}

void ChannelPipeline::continue_from(const ChannelPipeline& before) noexcept {
    gate_.continue_from(before.gate_);
    kind_ = before.kind_;
    if (later_ == nullptr || before.later_ == nullptr) {
        return;
    }
    LaterStages& mine = *later_;
    const LaterStages& other = *before.later_;
    const bool derives_same = mine.rate.has_value() == other.rate.has_value() &&
                              (!mine.rate || mine.rate->is_counter() == other.rate->is_counter());
    const bool means_same = derives_same && scale_ == before.scale_ && offset_ == before.offset_;
    mine.is_time_given = other.is_time_given;
    mine.lag_ns = other.lag_ns;
    mine.arrival_ns = other.arrival_ns;
    mine.hold_ns = std::max(other.hold_ns, other.is_time_given && mine.window ? mine.window->length_ns() : 0);
    if (mine.alarm && other.alarm) {
        mine.alarm->continue_from(*other.alarm, means_same);
    }
    if (!means_same) {
        return;
    }
    if (mine.rate) {
        mine.rate->continue_from(*other.rate);
    }
    if (mine.window && other.window) {
        mine.window->continue_from(*other.window);
    }
}

bool ChannelPipeline::pass_out_of_range(Reading& reading) const noexcept {
    if (!std::isfinite(reading.value)) {
        reading.become_absent();
        return true;
    }
    if (reading.quality == Quality::good) {
        reading.quality = Quality::uncertain;
    }
    return !drops_;
}

Outcome ChannelPipeline::process_all_stages(Reading reading) noexcept {
    Outcome outcome;
    outcome.window_closed = later_->window && later_->window->close_at(reading.time_ns);
    const double raw = reading.value;
    const bool in_range = pass_range(reading);
    outcome.reading = reading;
    if (!in_range) {
        outcome.suppressed = FilterReason::range;
        return outcome;
    }
    bool crosses = false;
    if (later_->alarm && !later_->rate) {
        outcome.alarm_tells = later_->alarm->watch(reading);
        crosses = later_->alarm->crosses();
        outcome.alarm_crosses = crosses;
    }
    pass_later_stages(outcome, raw, crosses);
    outcome.reading.value = rounded(outcome.reading.value);
    return outcome;
}

double ChannelPipeline::rounded(double value) const noexcept {
    constexpr double exact_max = 9'007'199'254'740'992;  // larger values have no fraction
    const double scaled = value * later_->rounding;
    if (later_->rounding == 0.0 || !(std::abs(scaled) < exact_max)) {
        return value;
    }
    return std::round(scaled) / later_->rounding + 0.0;  // turns -0 into 0
}

void ChannelPipeline::pass_later_stages(Outcome& outcome, double raw, bool crosses) noexcept {
    const Reading seen = outcome.reading;
    if (!crosses) {
        outcome.suppressed = gate_.holds_back(seen, ReadingKind::number);
        if (outcome.suppressed) {
            return;
        }
    }
    if (later_->rate) {
        outcome.reading = later_->rate->process(seen, raw);
        if (later_->alarm) {
            outcome.alarm_tells = later_->alarm->watch(outcome.reading);
            outcome.alarm_crosses = later_->alarm->crosses();
        }
    }
    gate_.sent(seen, outcome.reading.quality);
    if (later_->window) {
        add_to_window(outcome.reading);
        if (!window_raw_) {
            outcome.suppressed = FilterReason::window;
        }
    }
}

Outcome ChannelPipeline::process_logical(const Reading& reading) noexcept {
    kind_ = ReadingKind::logical;
    Outcome outcome;
    outcome.reading = reading;
    bool crosses = false;
    if (later_ != nullptr && later_->alarm) {
        outcome.alarm_tells = later_->alarm->watch(reading);
        crosses = later_->alarm->crosses();
        outcome.alarm_crosses = crosses;
    }
    if (!crosses) {
        outcome.suppressed = gate_.holds_back(reading, kind_);
    }
    if (!outcome.suppressed) {
        gate_.sent(reading, reading.quality);
    }
    return outcome;
}

Outcome ChannelPipeline::process_text(const Reading& reading) noexcept {
    kind_ = ReadingKind::text;
    Outcome outcome;
    outcome.reading = reading;
    outcome.suppressed = gate_.holds_back(reading, kind_);
    if (!outcome.suppressed) {
        gate_.sent(reading, reading.quality);
    }
    return outcome;
}

Outcome ChannelPipeline::process_absent(std::int64_t time_ns, Quality quality) noexcept {
    const Reading reading{0.0, time_ns, quality, false};
    switch (kind_) {
        case ReadingKind::number: return process(reading);
        case ReadingKind::logical: return process_logical(reading);
        case ReadingKind::text: return process_text(reading);
    }
    return {};
}

Outcome ChannelPipeline::advance(std::int64_t time_ns) noexcept {
    Outcome outcome;
    if (later_ == nullptr) {
        return outcome;
    }
    const std::int64_t reading_ns = time_ns - later_->lag_ns;
    outcome.window_closed = time_ns >= window_due_ns() && later_->window->close_at(reading_ns);
    outcome.alarm_tells = later_->alarm && later_->alarm->advance(reading_ns);
    return outcome;
}

void ChannelPipeline::record_given(const ReadingTimes& times) noexcept {
    LaterStages& mine = *later_;
    if (mine.is_time_given != times.is_given) {
        mine.is_time_given = times.is_given;
        mine.hold_ns = mine.window ? mine.window->length_ns() : 0;
        mine.arrival_ns = times.arrival_ns;
        if (mine.rate) {
            mine.rate->forget();
        }
        if (mine.alarm) {
            mine.alarm->restart_delay(times.reading_ns);
        }
    }
    const std::int64_t pause_ns = times.arrival_ns - std::exchange(mine.arrival_ns, times.arrival_ns);
    mine.hold_ns = std::max(mine.hold_ns, std::min(pause_ns + pause_ns / 4, hold_max_ns));  // pauses vary
    mine.lag_ns = times.is_given ? times.arrival_ns - times.reading_ns : 0;
}

/// A reading of an earlier window makes the window uncertain.
void ChannelPipeline::add_to_window(Reading reading) noexcept {
    ValueWindow& window = *later_->window;
    if (later_->is_time_given && window.is_late(reading.time_ns) && reading.quality == Quality::good) {
        reading.quality = Quality::uncertain;
    }
    window.add(reading, later_->utc_less_mono_ns);
}

}  // namespace telegate::processing
