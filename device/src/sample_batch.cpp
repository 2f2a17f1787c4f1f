#include "device/sample_batch.hpp"

#include "core/assert.hpp"
#include "core/topic.hpp"
#include "core/utf8.hpp"
#include "lines/line_fields.hpp"
#include "processing/batch_processing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace telegate {
namespace {

struct NoValue {};

// Each function writes a value to a sample without one.

void write(TelemetrySample& /*sample*/, NoValue /*none*/) noexcept {}

void write(TelemetrySample& sample, double value) noexcept {
    sample.type = ValueType::real;
    sample.value.real = value;
}

void write(TelemetrySample& sample, std::int64_t value) noexcept {
    sample.type = ValueType::integer;
    sample.value.integer = value;
}

void write(TelemetrySample& sample, bool value) noexcept {
    sample.type = ValueType::boolean;
    sample.value.boolean = value;
}

void write(TelemetrySample& sample, std::string_view text) noexcept {
    const std::size_t bytes = whole_characters_bytes(text, TelemetrySample::text_bytes_max);
    sample.type = ValueType::text;
    sample.flags |= bytes < text.size() ? sample_flag::text_truncated : std::uint8_t{0};
    sample.text_bytes = static_cast<std::uint8_t>(bytes);
    std::copy_n(text.begin(), bytes, sample.value.text);
}

/// The text of another sample, which may have been truncated.
struct TextOf {
    const TelemetrySample& sample;
};

void write(TelemetrySample& sample, const TextOf& text) noexcept {
    write(sample, text.sample.text());
    sample.flags |= text.sample.flags & sample_flag::text_truncated;
}

}  // namespace

SampleBatch::SampleBatch(const Clock& clock, ChannelTable& channels, OfDevice device,
                         std::function<void(std::span<const TelemetrySample>)> on_full)
    : clock_(clock),
      channels_(channels),
      device_(std::move(device)),
      on_full_(std::move(on_full)),
      samples_(std::make_unique<TelemetrySample[]>(samples_max)) {}

SampleBatch::~SampleBatch() = default;

void SampleBatch::process_with(ProcessingPlan plan, ProcessingObserver observer) {
    TELEGATE_ASSERT(slots_.empty());
    if (!plan.channels.empty()) {
        processing_ = std::make_unique<Processing>(*this, std::move(plan), std::move(observer));
    }
}

SampleBatch::Channel SampleBatch::add_channel(std::string_view name, std::string_view unit) {
    const std::string part = to_topic_part(name);
    if (processing_ == nullptr) {
        return declare(part, unit);
    }
    const ChannelProcessing* const how = processing_->find(part);
    const Channel channel = how == nullptr ? declare(part, unit) : processing_->add(part, unit, *how);
    if (channel != Channel::none && slots_[static_cast<std::size_t>(channel)].is_made) {
        return refuse_clash(part);
    }
    return channel;
}

SampleBatch::Channel SampleBatch::declare(const std::string& name, std::string_view unit) {
    const auto id = live_ ? channels_.add_found(device_.id, device_.name, name, unit)
                          : channels_.add(device_.id, device_.name, name, unit);
    if (!id) {
        ++channels_refused_;
        return Channel::none;
    }
    const auto known = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.id == *id; });
    const auto index = static_cast<std::uint32_t>(known - slots_.begin());
    if (known == slots_.end()) {
        slots_.push_back(Slot{*id});
        if (live_) {
            begin_channel(slots_.back());
        }
    }
    return Channel{index};
}

SampleBatch::Channel SampleBatch::refuse_clash(const std::string& name) {
    ++channels_refused_;
    clash_ = clash_.empty() ? name : clash_;
    return Channel::none;
}

void SampleBatch::go_on_from(std::vector<ChannelSeq> before, SampleBatch* earlier) {
    live_ = true;
    if (earlier != nullptr && earlier->processing_ != nullptr && processing_ != nullptr) {
        processing_->continue_from(*earlier->processing_);
    }
    past_ = std::move(before);
    std::sort(past_.begin(), past_.end(), [](const ChannelSeq& a, const ChannelSeq& b) { return a.id < b.id; });
    for (Slot& slot : slots_) {
        begin_channel(slot);
    }
    std::erase_if(past_, [](const ChannelSeq& each) { return each.seq == 0; });
}

/// Takes the channel's last sequence number, if any, from past_, which is sorted by id. 0 marks an entry as used.
void SampleBatch::begin_channel(Slot& slot) {
    channels_.set_current(slot.id, true);
    const auto known = std::lower_bound(past_.begin(), past_.end(), slot.id,
                                        [](const ChannelSeq& each, ChannelId id) { return each.id < id; });
    if (known != past_.end() && known->id == slot.id) {
        slot.seq = std::exchange(known->seq, 0);
    }
}

std::vector<ChannelSeq> SampleBatch::retire() {
    std::erase_if(past_, [](const ChannelSeq& each) { return each.seq == 0; });
    for (const Slot& slot : slots_) {
        channels_.set_current(slot.id, false);
        past_.push_back({slot.id, slot.seq});
    }
    return std::move(past_);
}

void SampleBatch::begin(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept {
    stamp(time_utc_ns, time_mono_ns);
    read_clock();
    ++tick_;
    if (processing_ != nullptr) {
        processing_->begin_tick();
    }
}

void SampleBatch::stamp(std::int64_t time_utc_ns, std::int64_t time_mono_ns) noexcept {
    time_utc_ns_ = time_utc_ns;
    time_mono_ns_ = time_mono_ns;
    reading_ns_ = time_mono_ns;
    arrival_ns_ = time_mono_ns;
    is_time_given_ = false;
}

void SampleBatch::stamp_given(const ClockPair& given, std::int64_t arrival_mono_ns) noexcept {
    stamp(given.utc_ns, given.mono_ns);
    constexpr std::int64_t limit_ns = std::numeric_limits<std::int64_t>::max() / 3;  // 97 years around 1970
    reading_ns_ = std::clamp(given.utc_ns, -limit_ns, limit_ns);  // processing adds and subtracts such times
    arrival_ns_ = arrival_mono_ns;
    is_time_given_ = true;
}

void SampleBatch::stamp_now() noexcept {
    const ClockPair now = read_both(clock_);
    stamp(now.utc_ns, now.mono_ns);
    read_clock();
}

void SampleBatch::read_clock() noexcept {
    time_flags_ = clock_.utc_is_unsynchronized(time_mono_ns_) ? sample_flag::time_unsynchronized : std::uint8_t{0};
}

void SampleBatch::add(Channel channel, double value, Quality quality) {
    if (!std::isfinite(value)) {
        return add_absent(channel);
    }
    put(channel, quality, value);
}

void SampleBatch::add(Channel channel, std::int64_t value, Quality quality) {
    put(channel, quality, value);
}

void SampleBatch::add(Channel channel, bool value, Quality quality) {
    put(channel, quality, value);
}

void SampleBatch::add(Channel channel, std::string_view text, Quality quality) {
    put(channel, quality, text);
}

void SampleBatch::add_copy(Channel channel, const TelemetrySample& of) {
    switch (of.type) {
        case ValueType::real: return add(channel, of.value.real, of.quality);
        case ValueType::integer: return add(channel, of.value.integer, of.quality);
        case ValueType::boolean: return add(channel, of.value.boolean, of.quality);
        case ValueType::text: return put(channel, of.quality, TextOf{of});
        case ValueType::none: return put(channel, of.quality, NoValue{});
    }
}

void SampleBatch::add_absent(Channel channel) {
    put(channel, Quality::bad, NoValue{});
}

void SampleBatch::add_absent_for_missing() {
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        if (slots_[index].tick != tick_ && !slots_[index].is_made) {
            add_absent(Channel{static_cast<std::uint32_t>(index)});
        }
    }
}

void SampleBatch::refused(std::string_view why, std::string_view text) noexcept {
    ++refusals_;
    last_refused_ = why;
    if (!text.empty()) {
        last_refused_.append(": \"").append(excerpt(text)).append("\"");
    }
    if (on_refused_) {
        on_refused_(last_refused_);
    }
}

void SampleBatch::flush() {
    if (count_ > 0) {
        on_full_({samples_.get(), count_});
        count_ = 0;
    }
    if (processing_ != nullptr) {
        processing_->report_filtered();
    }
}

template <class Value>
void SampleBatch::put(Channel channel, Quality quality, const Value& value) {
    const auto index = static_cast<std::size_t>(channel);
    if (index >= slots_.size()) {
        TELEGATE_ASSERT(channel == Channel::none);
        return;
    }
    Slot& slot = slots_[index];
    constexpr bool is_number = std::is_same_v<Value, double> || std::is_same_v<Value, std::int64_t>;
    if (slot.processed == not_processed) [[likely]] {
        if constexpr (!is_number && !std::is_same_v<Value, bool>) {
            count_bad(quality);
        }
        return write(next(slot, quality), value);
    }
    if constexpr (is_number) {
        processing_->process_number(slot, value, quality);
    } else {
        TelemetrySample raw{};
        raw.quality = quality;
        write(raw, value);
        processing_->process(slot, raw);
    }
}

/// Returns a sample of type none, with time, channel, sequence number, quality and flags.
TelemetrySample& SampleBatch::next(Slot& slot, Quality quality) {
    if (count_ == samples_max) {
        flush();
    }
    slot.tick = tick_;
    TelemetrySample& sample = samples_[count_++];
    sample = {};
    sample.time_utc_ns = time_utc_ns_;
    sample.time_mono_ns = time_mono_ns_;
    sample.seq = ++slot.seq;
    sample.channel = slot.id;
    sample.quality = quality;
    sample.flags = time_flags_;
    return sample;
}

}  // namespace telegate
