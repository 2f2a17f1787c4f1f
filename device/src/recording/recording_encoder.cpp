#include "device/recording/recording_encoder.hpp"

#include "core/assert.hpp"
#include "core/crc32c.hpp"
#include "core/endian.hpp"
#include "recording/sample_layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace telegate::recording {

template <class T>
void RecordingEncoder::put(T number) {
    std::array<std::byte, sizeof number> bytes;
    store_little_endian(bytes.data(), number);
    put_bytes(bytes);
}

void RecordingEncoder::put_bytes(Bytes bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void RecordingEncoder::begin(RecordType type) {
    begun_at_ = bytes_.size();
    put(std::uint32_t{0});  // checksum
    put(std::uint32_t{0});  // payload length
    put(number_++);
    put(static_cast<std::uint16_t>(type));
    put(std::uint16_t{0});
}

void RecordingEncoder::finish() {
    while ((bytes_.size() - begun_at_) % alignment != 0) {
        bytes_.push_back(std::byte{0});
    }
    const auto payload_bytes = static_cast<std::uint32_t>(bytes_.size() - begun_at_ - record_header_bytes);
    TELEGATE_ASSERT(payload_bytes <= payload_bytes_max);
    store_little_endian(bytes_.data() + begun_at_ + sizeof(std::uint32_t), payload_bytes);
    const std::uint32_t sum = crc32c(Bytes(bytes_).subspan(begun_at_ + sizeof(std::uint32_t)));
    store_little_endian(bytes_.data() + begun_at_, sum);
}

void RecordingEncoder::file_header() {
    const std::size_t at = bytes_.size();
    put_bytes(std::as_bytes(std::span(magic)));
    put(version);
    put(crc32c(Bytes(bytes_).subspan(at)));
    number_ = 0;
}

void RecordingEncoder::start(const Start& start) {
    begin(RecordType::start);
    put(start.epoch_ms);
    put(start.time_utc_ns);
    put(start.time_mono_ns);
    finish();
}

void RecordingEncoder::channel(const Channel& channel) {
    const std::string_view unit = channel.unit.substr(0, unit_bytes_max);
    begin(RecordType::channel);
    put(channel.id);
    for (const std::string_view text : {channel.device, channel.channel, unit}) {
        put(static_cast<std::uint16_t>(text.size()));
    }
    put(std::uint16_t{0});
    for (const std::string_view text : {channel.device, channel.channel, unit}) {
        put_bytes(as_bytes(text));
    }
    finish();
}

void RecordingEncoder::samples(std::span<const TelemetrySample> samples) {
    while (!samples.empty()) {
        const std::size_t count = std::min(samples.size(), samples_per_record_max);
        begin(RecordType::samples);
        for (const TelemetrySample& sample : samples.first(count)) {
            put_one(sample);
        }
        finish();
        samples = samples.subspan(count);
    }
}

/// Unused bytes of the value are zero on disk, regardless of their content in memory.
void RecordingEncoder::put_one(const TelemetrySample& sample) {
    std::array<std::byte, sample_bytes> bytes{};
    std::memcpy(bytes.data(), &sample, sample_offset::value);
    if (sample.type != ValueType::text) {
        bytes[sample_offset::text_bytes] = std::byte{0};
    }
    std::byte* const value = bytes.data() + sample_offset::value;
    switch (sample.type) {
        case ValueType::none: break;
        case ValueType::real: std::memcpy(value, &sample.value.real, sizeof sample.value.real); break;
        case ValueType::integer: std::memcpy(value, &sample.value.integer, sizeof sample.value.integer); break;
        case ValueType::boolean: *value = std::byte{sample.value.boolean}; break;
        case ValueType::text: std::memcpy(value, sample.value.text, sample.text_bytes); break;
    }
    put_bytes(bytes);
}

void RecordingEncoder::gap(const Gap& gap) {
    begin(RecordType::gap);
    put(gap.channel);
    put(static_cast<std::uint32_t>(gap.reason));
    put(gap.first_seq);
    put(gap.last_seq);
    finish();
}

void RecordingEncoder::end(const End& end) {
    begin(RecordType::end);
    put(end.time_utc_ns);
    put(end.time_mono_ns);
    put(end.samples);
    put(end.lost);
    finish();
}

}  // namespace telegate::recording
