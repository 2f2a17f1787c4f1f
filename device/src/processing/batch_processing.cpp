#include "processing/batch_processing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace telegate {
namespace {

using processing::Outcome;

Outcome run(processing::ChannelPipeline& pipeline, const TelemetrySample& raw, std::int64_t time_ns) noexcept {
    switch (raw.type) {
        case ValueType::boolean: return pipeline.process_logical({raw.value.boolean ? 1.0 : 0.0, time_ns, raw.quality});
        case ValueType::text: return pipeline.process_text({0.0, time_ns, raw.quality});
        default: return pipeline.process_absent(time_ns, raw.quality);
    }
}

/// `text` must have at most TelemetrySample::text_bytes_max bytes.
void put_state(TelemetrySample& sample, std::string_view text) noexcept {
    sample.type = ValueType::text;
    sample.text_bytes = static_cast<std::uint8_t>(text.size());
    std::copy(text.begin(), text.end(), sample.value.text);
}

/// Returns the value of a sample as a whole number, which may have a text; nullopt for fractions, texts and no value.
std::optional<std::int64_t> whole_number_of(const TelemetrySample& sample) noexcept {
    constexpr double exact_max = 9'007'199'254'740'992;
    switch (sample.type) {
        case ValueType::boolean: return sample.value.boolean ? 1 : 0;
        case ValueType::integer: return sample.value.integer;
        case ValueType::real:
            if (std::abs(sample.value.real) <= exact_max && std::trunc(sample.value.real) == sample.value.real) {
                return static_cast<std::int64_t>(sample.value.real);
            }
            break;
        case ValueType::text:
        case ValueType::none: break;
    }
    return std::nullopt;
}

bool is_number(const TelemetrySample& sample) noexcept {
    return sample.type != ValueType::text && sample.type != ValueType::none;
}

std::string unit_of(const ChannelProcessing& how, std::string_view of_driver) {
    if (!how.unit.empty()) {
        return how.unit;
    }
    const std::string unit(of_driver);
    return how.derive == Derive::none ? unit : (unit.empty() ? "1" : unit) + "/s";
}

}  // namespace

const ChannelProcessing* SampleBatch::Processing::find(std::string_view channel) const {
    const auto found = plan_.channels.find(channel);
    return found == plan_.channels.end() ? nullptr : &found->second;
}

SampleBatch::Channel SampleBatch::Processing::add(const std::string& name, std::string_view unit,
                                                  const ChannelProcessing& how) {
    const std::string shown = unit_of(how, unit);
    const std::size_t known = batch_.slots_.size();
    const Channel channel = batch_.declare(name, shown);
    if (batch_.slots_.size() == known || !how.has_stages()) {
        return channel;
    }
    Slot& slot = batch_.slots_.back();
    slot.processed = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({processing::ChannelPipeline(how)});
    Made& made = made_.emplace_back();
    made.of = slot.id;
    made.name = name;
    made.aggregates.fill(Channel::none);
    made.texts = how.texts;
    if (how.has_window()) {
        for (const Aggregate each : how.aggregates) {
            made.aggregates[static_cast<std::size_t>(each)] =
                add_made(name, to_string(each), each == Aggregate::count ? "1" : shown);
        }
    }
    if (how.has_alarm()) {
        made.alarm = add_made(name, "alarm", "");
    }
    changed_.reserve(entries_.size());
    counts_.reserve(entries_.size());
    continue_past(static_cast<std::uint32_t>(entries_.size() - 1));
    return channel;
}

void SampleBatch::Processing::continue_from(Processing& before) {
    past_ = std::move(before.past_);
    for (std::size_t i = 0; i < before.entries_.size(); ++i) {
        past_.push_back({before.made_[i].of, before.made_[i].name, std::move(before.entries_[i].pipeline)});
    }
    before.entries_.clear();
    for (Past& each : past_) {
        const ChannelProcessing* const how = find(each.name);
        if (how == nullptr || !how->has_alarm()) {
            each.pipeline.forget_alarm();
        }
    }
    std::sort(past_.begin(), past_.end(), [](const Past& a, const Past& b) { return a.of < b.of; });
    for (std::uint32_t index = 0; index < entries_.size(); ++index) {
        continue_past(index);
    }
}

void SampleBatch::Processing::continue_past(std::uint32_t index) {
    const auto found = std::lower_bound(past_.begin(), past_.end(), made_[index].of,
                                        [](const Past& each, ChannelId id) { return each.of < id; });
    if (found != past_.end() && found->of == made_[index].of) {
        entries_[index].pipeline.continue_from(found->pipeline);
        due_ns_ = std::min(due_ns_, entries_[index].pipeline.due_ns());
        past_.erase(found);
    }
}

SampleBatch::Channel SampleBatch::Processing::add_made(const std::string& of, std::string_view ending,
                                                       std::string_view unit) {
    const std::string name = of.substr(0, processed_name_bytes_max) + '.' + std::string(ending);
    const std::size_t known = batch_.slots_.size();
    const Channel channel = batch_.declare(name, unit);
    if (channel == Channel::none) {
        return channel;
    }
    if (batch_.slots_.size() == known) {
        return batch_.refuse_clash(name);
    }
    batch_.slots_.back().is_made = true;
    return channel;
}

void SampleBatch::Processing::process(Slot& slot, const TelemetrySample& raw) {
    slot.tick = batch_.tick_;
    record_times(entries_[slot.processed]);
    const Outcome outcome = run(entries_[slot.processed].pipeline, raw, batch_.reading_ns_);
    if (outcome.window_closed) {
        report_window(slot.processed);
    }
    if (outcome.suppressed) {
        count_filtered(slot.processed, *outcome.suppressed);
    } else {
        TelemetrySample& sample = batch_.next(slot, outcome.reading.quality);
        batch_.count_bad(outcome.reading.quality);
        sample.type = raw.type;
        sample.flags |= raw.flags;
        sample.text_bytes = raw.text_bytes;
        sample.value = raw.value;
    }
    finish(slot, outcome);
}

/// Replaces the number in the last sample of the batch with its text.
void SampleBatch::Processing::show_text(std::uint32_t index) {
    const std::vector<ValueText>& texts = made_[index].texts;
    TelemetrySample& sample = batch_.samples_[batch_.count_ - 1];
    if (texts.empty() || !is_number(sample)) {
        return;
    }
    const std::optional<std::int64_t> number = whole_number_of(sample);
    const auto found = std::lower_bound(texts.begin(), texts.end(), number.value_or(0),
                                        [](const ValueText& each, std::int64_t value) { return each.value < value; });
    if (number && found != texts.end() && found->value == *number) {
        put_state(sample, found->text);
    } else if (sample.quality == Quality::good) {
        sample.quality = Quality::uncertain;
    }
}

void SampleBatch::Processing::finish_later_stages(std::uint32_t index, const Outcome& outcome) {
    if (!outcome.suppressed) {
        show_text(index);
    }
    if (outcome.alarm_tells) {
        update_alarm(index);
    } else if (outcome.alarm_crosses) {
        report_alarm(index);
    }
    due_ns_ = std::min(due_ns_, entries_[index].pipeline.due_ns());
}

void SampleBatch::Processing::advance() {
    due_ns_ = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t index = 0; index < entries_.size(); ++index) {
        processing::ChannelPipeline& pipeline = entries_[index].pipeline;
        if (pipeline.due_ns() <= batch_.time_mono_ns_) {
            const Outcome outcome = pipeline.advance(batch_.time_mono_ns_);
            if (outcome.window_closed) {
                report_window(index);
            }
            if (outcome.alarm_tells) {
                update_alarm(index);
            }
        }
        due_ns_ = std::min(due_ns_, pipeline.due_ns());
    }
}

/// The samples carry the time at which the window ended. The end of a window of given times is not a time of the
/// monotonic clock, so they carry the monotonic time at which it was closed.
void SampleBatch::Processing::report_window(std::uint32_t index) {
    const processing::WindowResult& window = entries_[index].pipeline.window();
    const Made& made = made_[index];
    const bool is_given = entries_[index].pipeline.is_time_given();
    const std::array<double, aggregate_kinds> values{window.min, window.max, window.mean, window.last, 0.0};
    for (std::size_t kind = 0; kind < aggregate_kinds; ++kind) {
        if (made.aggregates[kind] == Channel::none) {
            continue;
        }
        Slot& slot = batch_.slots_[static_cast<std::size_t>(made.aggregates[kind])];
        const bool is_count = kind == static_cast<std::size_t>(Aggregate::count);
        const bool has_value = window.values > 0 && std::isfinite(values[kind]);
        // The count is always known, even if it is 0.
        TelemetrySample& sample = batch_.next(slot, is_count    ? window.is_partial ? Quality::uncertain : Quality::good
                                                    : has_value ? window.quality
                                                                : Quality::bad);
        batch_.count_bad(sample.quality);
        sample.time_mono_ns = is_given ? batch_.time_mono_ns_ : std::min(window.end_ns, batch_.time_mono_ns_);
        sample.time_utc_ns = window.end_ns + window.utc_less_mono_ns;
        if (is_count) {
            sample.type = ValueType::integer;
            sample.value.integer = static_cast<std::int64_t>(window.values);
        } else if (has_value) {
            sample.type = ValueType::real;
            sample.value.real = entries_[index].pipeline.rounded(values[kind]);
        }
    }
}

void SampleBatch::Processing::update_alarm(std::uint32_t index) {
    const Channel channel = made_[index].alarm;
    if (channel == Channel::none) {
        return report_alarm(index);
    }
    const processing::LimitAlarm& alarm = entries_[index].pipeline.alarm();
    TelemetrySample& sample = batch_.next(batch_.slots_[static_cast<std::size_t>(channel)], alarm.quality());
    batch_.count_bad(alarm.quality());
    if (alarm.quality() != Quality::bad && alarm.state() != AlarmState::unknown) {
        put_state(sample, to_string(alarm.state()));
    }
    report_alarm(index);
}

void SampleBatch::Processing::report_alarm(std::uint32_t index) {
    if (observer_.on_alarm) {
        const processing::LimitAlarm& alarm = entries_[index].pipeline.alarm();
        observer_.on_alarm({.device = batch_.device_.name,
                            .channel = made_[index].name,
                            .state = alarm.state(),
                            .quality = alarm.quality(),
                            .value = alarm.value(),
                            .limit = alarm.limit(),
                            .time_utc_ns = batch_.time_utc_ns_});
    }
}

void SampleBatch::Processing::report_filtered() {
    if (filtered_ == 0) {
        return;
    }
    counts_.clear();
    for (const std::uint32_t index : changed_) {
        counts_.push_back({made_[index].of, std::exchange(entries_[index].filtered, 0)});
    }
    changed_.clear();
    filtered_ = 0;
    observer_.on_filtered({counts_, std::exchange(by_reason_, FilterCounts{})});
}

}  // namespace telegate
