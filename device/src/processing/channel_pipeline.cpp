#include "processing/channel_pipeline.hpp"

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
    if (processing.derive == Derive::none && !processing.has_window() && !processing.has_alarm()) {
        return;
    }
    later_ = std::make_unique<LaterStages>();
    if (processing.derive != Derive::none) {
        later_->rate.emplace(processing);
    }
    if (processing.has_window()) {
        later_->window.emplace(processing.window);
    }
    if (processing.has_alarm()) {
        later_->alarm.emplace(processing);
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

Outcome ChannelPipeline::take_through_all(Reading reading) noexcept {
    Outcome outcome;
    outcome.window_closed = later_->window && later_->window->close_at(reading.time_ns);
    const double raw = reading.value;
    const bool in_range = pass_range(reading);
    outcome.reading = reading;
    if (!in_range) {
        outcome.held_back = FilterReason::range;
        return outcome;
    }
    bool crosses = false;
    if (later_->alarm && !later_->rate) {
        outcome.alarm_tells = later_->alarm->watch(reading);
        crosses = later_->alarm->crosses();
    }
    pass_later_stages(outcome, raw, crosses);
    return outcome;
}

void ChannelPipeline::pass_later_stages(Outcome& outcome, double raw, bool crosses) noexcept {
    const Reading seen = outcome.reading;
    if (!crosses) {
        outcome.held_back = gate_.holds_back(seen, ReadingKind::number);
        if (outcome.held_back) {
            return;
        }
    }
    if (later_->rate) {
        outcome.reading = later_->rate->take(seen, raw);
        outcome.alarm_tells = later_->alarm && later_->alarm->watch(outcome.reading);
    }
    gate_.sent(seen, outcome.reading.quality);
    if (later_->window) {
        later_->window->add(outcome.reading);
        if (!window_raw_) {
            outcome.held_back = FilterReason::window;
        }
    }
}

Outcome ChannelPipeline::take_logical(const Reading& reading) noexcept {
    kind_ = ReadingKind::logical;
    Outcome outcome;
    outcome.reading = reading;
    bool crosses = false;
    if (later_ != nullptr && later_->alarm) {
        outcome.alarm_tells = later_->alarm->watch(reading);
        crosses = later_->alarm->crosses();
    }
    if (!crosses) {
        outcome.held_back = gate_.holds_back(reading, kind_);
    }
    if (!outcome.held_back) {
        gate_.sent(reading, reading.quality);
    }
    return outcome;
}

Outcome ChannelPipeline::take_text(const Reading& reading) noexcept {
    kind_ = ReadingKind::text;
    Outcome outcome;
    outcome.reading = reading;
    outcome.held_back = gate_.holds_back(reading, kind_);
    if (!outcome.held_back) {
        gate_.sent(reading, reading.quality);
    }
    return outcome;
}

Outcome ChannelPipeline::take_absent(std::int64_t time_ns, Quality quality) noexcept {
    const Reading reading{0.0, time_ns, quality, false};
    switch (kind_) {
        case ReadingKind::number: return take(reading);
        case ReadingKind::logical: return take_logical(reading);
        case ReadingKind::text: return take_text(reading);
    }
    return {};
}

Outcome ChannelPipeline::advance(std::int64_t time_ns) noexcept {
    Outcome outcome;
    if (later_ == nullptr) {
        return outcome;
    }
    outcome.window_closed = later_->window && later_->window->close_at(time_ns);
    outcome.alarm_tells = later_->alarm && later_->alarm->advance(time_ns);
    return outcome;
}

}  // namespace telegate::processing
