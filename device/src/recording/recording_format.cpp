#include "device/recording/recording_format.hpp"

#include "core/channel_table.hpp"
#include "core/crc32c.hpp"
#include "core/endian.hpp"
#include "core/telemetry_sample.hpp"
#include "core/topic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

namespace telegate::recording {
namespace {

// Offsets in the record header.
constexpr std::size_t checksum_at = 0;
constexpr std::size_t payload_bytes_at = 4;
constexpr std::size_t number_at_offset = 8;
constexpr std::size_t type_at = 12;
constexpr std::size_t zero_at = 14;

constexpr std::size_t start_bytes = 24;
constexpr std::size_t channel_texts_at = 12;
constexpr std::size_t gap_bytes = 24;
constexpr std::size_t end_bytes = 32;

/// The offsets of the fields of a sample, in memory and on disk.
namespace sample_offset {
constexpr std::size_t channel = 24;
constexpr std::size_t type = 28;
constexpr std::size_t quality = 29;
constexpr std::size_t flags = 30;
constexpr std::size_t text_bytes = 31;
constexpr std::size_t value = 32;
}  // namespace sample_offset

static_assert(offsetof(TelemetrySample, time_utc_ns) == 0 && offsetof(TelemetrySample, time_mono_ns) == 8);
static_assert(offsetof(TelemetrySample, seq) == 16 && offsetof(TelemetrySample, channel) == sample_offset::channel);
static_assert(offsetof(TelemetrySample, type) == sample_offset::type);
static_assert(offsetof(TelemetrySample, quality) == sample_offset::quality);
static_assert(offsetof(TelemetrySample, flags) == sample_offset::flags);
static_assert(offsetof(TelemetrySample, text_bytes) == sample_offset::text_bytes);
static_assert(offsetof(TelemetrySample, value) == sample_offset::value);
// Readers in other languages use these numbers.
static_assert(static_cast<int>(ValueType::none) == 0 && static_cast<int>(ValueType::real) == 1);
static_assert(static_cast<int>(ValueType::integer) == 2 && static_cast<int>(ValueType::boolean) == 3);
static_assert(static_cast<int>(ValueType::text) == 4 && static_cast<int>(Quality::good) == 0);
static_assert(static_cast<int>(Quality::uncertain) == 1 && static_cast<int>(Quality::bad) == 2);
static_assert(static_cast<int>(Quality::stale) == 3 && sample_flag::text_truncated == 1);

constexpr std::size_t rounded_up(std::size_t bytes) noexcept {
    return (bytes + alignment - 1) / alignment * alignment;
}

bool is_sample(Bytes bytes) noexcept {
    const auto type = load_little_endian<std::uint8_t>(bytes.data() + sample_offset::type);
    const auto text_bytes = load_little_endian<std::uint8_t>(bytes.data() + sample_offset::text_bytes);
    const bool is_text = type == static_cast<std::uint8_t>(ValueType::text);
    const bool is_boolean = type == static_cast<std::uint8_t>(ValueType::boolean);
    return load_little_endian<std::uint32_t>(bytes.data() + sample_offset::channel) < ChannelTable::channels_max &&
           type <= static_cast<std::uint8_t>(ValueType::text) &&
           load_little_endian<std::uint8_t>(bytes.data() + sample_offset::quality) <=
               static_cast<std::uint8_t>(Quality::stale) &&
           text_bytes <= (is_text ? TelemetrySample::text_bytes_max : 0) &&
           (!is_boolean || load_little_endian<std::uint8_t>(bytes.data() + sample_offset::value) <= 1);
}

std::optional<Record> samples_of(Bytes payload) noexcept {
    if (payload.empty() || payload.size() % sample_bytes != 0) {
        return std::nullopt;
    }
    for (Bytes rest = payload; !rest.empty(); rest = rest.subspan(sample_bytes)) {
        if (!is_sample(rest)) {
            return std::nullopt;
        }
    }
    return Samples(payload);
}

std::optional<Record> channel_of(Bytes payload) noexcept {
    if (payload.size() < channel_texts_at) {
        return std::nullopt;
    }
    const std::size_t device_bytes = load_little_endian<std::uint16_t>(payload.data() + 4);
    const std::size_t channel_bytes = load_little_endian<std::uint16_t>(payload.data() + 6);
    const std::size_t unit_bytes = load_little_endian<std::uint16_t>(payload.data() + 8);
    if (payload.size() != rounded_up(channel_texts_at + device_bytes + channel_bytes + unit_bytes) ||
        unit_bytes > unit_bytes_max) {
        return std::nullopt;
    }
    const std::string_view texts = as_text(payload.subspan(channel_texts_at));
    const Channel channel{load_little_endian<std::uint32_t>(payload.data()), texts.substr(0, device_bytes),
                          texts.substr(device_bytes, channel_bytes),
                          texts.substr(device_bytes + channel_bytes, unit_bytes)};
    const bool is_valid =
        channel.id < ChannelTable::channels_max && is_topic_part(channel.device) && is_topic_part(channel.channel);
    return is_valid ? std::optional<Record>(channel) : std::nullopt;
}

std::optional<Record> gap_of(Bytes payload) noexcept {
    if (payload.size() != gap_bytes) {
        return std::nullopt;
    }
    const Gap gap{load_little_endian<std::uint32_t>(payload.data()),
                  GapReason{load_little_endian<std::uint32_t>(payload.data() + 4)},
                  load_little_endian<std::uint64_t>(payload.data() + 8),
                  load_little_endian<std::uint64_t>(payload.data() + 16)};
    const bool is_valid = gap.channel < ChannelTable::channels_max && gap.reason >= GapReason::queue_overflow &&
                          gap.reason <= GapReason::recorder && gap.first_seq >= 1 && gap.last_seq >= gap.first_seq;
    return is_valid ? std::optional<Record>(gap) : std::nullopt;
}

std::optional<Record> record_of(std::uint16_t type, Bytes payload) noexcept {
    switch (RecordType{type}) {
        case RecordType::start:
            return payload.size() != start_bytes
                       ? std::nullopt
                       : std::optional<Record>(Start{load_little_endian<std::int64_t>(payload.data()),
                                                     load_little_endian<std::int64_t>(payload.data() + 8),
                                                     load_little_endian<std::int64_t>(payload.data() + 16)});
        case RecordType::channel: return channel_of(payload);
        case RecordType::samples: return samples_of(payload);
        case RecordType::gap: return gap_of(payload);
        case RecordType::end:
            return payload.size() != end_bytes
                       ? std::nullopt
                       : std::optional<Record>(End{load_little_endian<std::int64_t>(payload.data()),
                                                   load_little_endian<std::int64_t>(payload.data() + 8),
                                                   load_little_endian<std::uint64_t>(payload.data() + 16),
                                                   load_little_endian<std::uint64_t>(payload.data() + 24)});
    }
    return Unknown{type};
}

Parsed damaged(std::string_view what, std::size_t bytes_summed = 0) noexcept {
    return {.status = ParseStatus::damaged, .bytes = 0, .what = what, .bytes_summed = bytes_summed};
}

}  // namespace

TelemetrySample Samples::operator[](std::size_t index) const noexcept {
    static_assert(sizeof(TelemetrySample) == sample_bytes);
    TelemetrySample sample{};
    std::memcpy(&sample, bytes_.data() + index * sample_bytes, sample_bytes);
    return sample;
}

Parsed parse_record(Bytes input) noexcept {
    if (input.size() < record_header_bytes) {
        return {};
    }
    const std::size_t payload_bytes = load_little_endian<std::uint32_t>(input.data() + payload_bytes_at);
    if (payload_bytes > payload_bytes_max || payload_bytes % alignment != 0) {
        return damaged("invalid record length: must be a multiple of 8 up to 65536");
    }
    if (load_little_endian<std::uint16_t>(input.data() + zero_at) != 0) {
        return damaged("invalid record header");
    }
    Parsed parsed;
    parsed.bytes = record_header_bytes + payload_bytes;
    if (input.size() < parsed.bytes) {
        return parsed;
    }
    const Bytes whole = input.first(parsed.bytes);
    if (crc32c(whole.subspan(payload_bytes_at)) != load_little_endian<std::uint32_t>(whole.data() + checksum_at)) {
        return damaged("wrong record checksum", whole.size());
    }
    const auto record =
        record_of(load_little_endian<std::uint16_t>(whole.data() + type_at), whole.subspan(record_header_bytes));
    if (!record) {
        return damaged("invalid record content with a correct checksum", whole.size());
    }
    parsed.status = ParseStatus::record;
    parsed.number = load_little_endian<std::uint32_t>(whole.data() + number_at_offset);
    parsed.record = *record;
    parsed.bytes_summed = whole.size();
    return parsed;
}

std::string_view file_header_fault(Bytes input) noexcept {
    constexpr std::size_t version_at = 8;
    constexpr std::size_t header_checksum_at = 12;
    if (input.size() < file_header_bytes || !std::equal(magic.begin(), magic.end(), as_text(input).begin())) {
        return "not a recording";
    }
    if (crc32c(input.first(header_checksum_at)) !=
        load_little_endian<std::uint32_t>(input.data() + header_checksum_at)) {
        return "damaged file header";
    }
    return load_little_endian<std::uint32_t>(input.data() + version_at) == version
               ? ""
               : "unsupported recording version: must be 1, or a directory with segments of version 2";
}

}  // namespace telegate::recording
