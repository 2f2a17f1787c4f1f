#include "device/sample_batch.hpp"

#include "core/assert.hpp"
#include "core/topic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace telegate {
namespace {

/// How much of `text` fits without cutting a UTF-8 character in two.
std::size_t fitting_bytes(std::string_view text) noexcept {
    if (text.size() <= TelemetrySample::text_bytes_max) {
        return text.size();
    }
    constexpr std::size_t continuations_max = 3;  // more in a row are not UTF-8, and any cut is as good
    std::size_t cut = TelemetrySample::text_bytes_max;
    while (cut > TelemetrySample::text_bytes_max - continuations_max &&
           (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
        --cut;
    }
    return cut;
}

}  // namespace

SampleBatch::SampleBatch(ChannelTable& channels, DeviceId device_id, std::string device,
                         std::function<void(std::span<const TelemetrySample>)> on_full)
    : channels_(channels),
      device_id_(device_id),
      device_(std::move(device)),
      on_full_(std::move(on_full)),
      samples_(std::make_unique<TelemetrySample[]>(samples_max)) {}

SampleBatch::Channel SampleBatch::add_channel(std::string_view name, std::string_view unit) {
    const auto id = channels_.add(device_id_, device_, to_topic_part(name), unit);
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

void SampleBatch::go_on_from(std::vector<ChannelSeq> before) {
    live_ = true;
    past_ = std::move(before);
    std::sort(past_.begin(), past_.end(), [](const ChannelSeq& a, const ChannelSeq& b) { return a.id < b.id; });
    for (Slot& slot : slots_) {
        begin_channel(slot);
    }
    std::erase_if(past_, [](const ChannelSeq& each) { return each.seq == 0; });
}

/// Takes its number out of past_, which stays in order; 0 marks what is used up.
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
    time_utc_ns_ = time_utc_ns;
    time_mono_ns_ = time_mono_ns;
    ++tick_;
}

void SampleBatch::add(Channel channel, double value, Quality quality) {
    if (!std::isfinite(value)) {
        return add_absent(channel);
    }
    if (TelemetrySample* sample = next(channel, quality)) {
        sample->type = ValueType::real;
        sample->value.real = value;
    }
}

void SampleBatch::add(Channel channel, std::int64_t value, Quality quality) {
    if (TelemetrySample* sample = next(channel, quality)) {
        sample->type = ValueType::integer;
        sample->value.integer = value;
    }
}

void SampleBatch::add(Channel channel, bool value, Quality quality) {
    if (TelemetrySample* sample = next(channel, quality)) {
        sample->type = ValueType::boolean;
        sample->value.boolean = value;
    }
}

void SampleBatch::add(Channel channel, std::string_view text, Quality quality) {
    if (TelemetrySample* sample = next(channel, quality)) {
        const std::size_t bytes = fitting_bytes(text);
        sample->type = ValueType::text;
        sample->flags = bytes < text.size() ? sample_flag::text_truncated : std::uint8_t{0};
        sample->text_bytes = static_cast<std::uint8_t>(bytes);
        std::copy_n(text.begin(), bytes, sample->value.text);
    }
}

void SampleBatch::add_absent(Channel channel) {
    next(channel, Quality::bad);
}

void SampleBatch::add_absent_for_missing() {
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        if (slots_[index].tick != tick_) {
            add_absent(Channel{static_cast<std::uint32_t>(index)});
        }
    }
}

void SampleBatch::flush() {
    if (count_ > 0) {
        on_full_({samples_.get(), count_});
        count_ = 0;
    }
}

TelemetrySample* SampleBatch::next(Channel channel, Quality quality) {
    const auto index = static_cast<std::size_t>(channel);
    if (index >= slots_.size()) {
        TELEGATE_ASSERT(channel == Channel::none);
        return nullptr;
    }
    if (count_ == samples_max) {
        flush();
    }
    Slot& slot = slots_[index];
    slot.tick = tick_;
    TelemetrySample& sample = samples_[count_++];
    sample = {};  // all zero: type none, no flags
    sample.time_utc_ns = time_utc_ns_;
    sample.time_mono_ns = time_mono_ns_;
    sample.seq = ++slot.seq;
    sample.channel = slot.id;
    sample.quality = quality;
    return &sample;
}

}  // namespace telegate
