#include "serial/frame_reader.hpp"

#include "core/endian.hpp"
#include "core/text.hpp"
#include "core/topic.hpp"
#include "device/option_error.hpp"
#include "shortest_real.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <set>

namespace telegate {
namespace {

/// Formats the first bytes as hexadecimal digits.
std::string hex_excerpt(std::string_view bytes) {
    constexpr std::size_t bytes_shown = 12;
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char c : bytes.substr(0, bytes_shown)) {
        const auto byte = static_cast<unsigned char>(c);
        text += text.empty() ? "" : " ";
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return text;
}

constexpr unsigned bits_per_byte = 8;

unsigned byte_of(char byte) noexcept {
    return static_cast<unsigned char>(byte);
}

std::size_t checksum_bytes(FrameChecksum checksum) noexcept {
    switch (checksum) {
        case FrameChecksum::sum8:
        case FrameChecksum::xor8: return 1;
        case FrameChecksum::crc16: return 2;
        case FrameChecksum::none: break;
    }
    return 0;
}

unsigned crc16(std::string_view bytes) noexcept {
    constexpr unsigned polynomial = 0xA001;  // the polynomial of Modbus, with reversed bits
    unsigned crc = 0xFFFF;
    for (const char byte : bytes) {
        crc ^= byte_of(byte);
        for (unsigned bit = 0; bit < bits_per_byte; ++bit) {
            crc = (crc & 1U) != 0 ? (crc >> 1U) ^ polynomial : crc >> 1U;
        }
    }
    return crc;
}

unsigned checksum_of(FrameChecksum checksum, std::string_view bytes) noexcept {
    unsigned sum = 0;
    switch (checksum) {
        case FrameChecksum::sum8:
            for (const char byte : bytes) {
                sum = (sum + byte_of(byte)) & 0xFFU;
            }
            return sum;
        case FrameChecksum::xor8:
            for (const char byte : bytes) {
                sum ^= byte_of(byte);
            }
            return sum;
        case FrameChecksum::crc16: return crc16(bytes);
        case FrameChecksum::none: break;
    }
    return sum;
}

void check_channels(const FrameFormat& format, std::size_t payload_bytes) {
    if (format.channels.empty()) {
        throw OptionError("format", "no channels; frames must have at least one");
    }
    std::set<std::string> names;
    for (const FrameChannel& channel : format.channels) {
        if (!names.insert(to_topic_part(channel.name)).second) {
            throw OptionError("channel", "duplicate name: \"" + channel.name + '"');
        }
        const std::size_t bytes = channel.number.bytes;
        if (channel.offset >= payload_bytes || bytes > payload_bytes - channel.offset) {
            throw OptionError("offset", "out of range: channel \"" + channel.name + "\" has " + std::to_string(bytes) +
                                            " bytes at " + std::to_string(channel.offset) + "; must be within the " +
                                            std::to_string(payload_bytes) + " bytes before the checksum");
        }
    }
}

const FrameFormat& checked(const FrameFormat& format) {
    if (format.start.empty() || format.start.size() > FrameFormat::start_bytes_most) {
        throw OptionError("frame_start", "invalid length: " + std::to_string(format.start.size()) +
                                             " bytes; must be 1 to " + std::to_string(FrameFormat::start_bytes_most));
    }
    const std::size_t least = format.start.size() + checksum_bytes(format.checksum) + 1;
    require_range("frame_bytes", static_cast<std::int64_t>(format.frame_bytes),
                  {static_cast<std::int64_t>(least), FrameFormat::frame_bytes_most});
    check_channels(format, format.frame_bytes - checksum_bytes(format.checksum));
    return format;
}

}  // namespace

std::optional<std::string> to_frame_start(std::string_view hex) {
    constexpr std::size_t digits = 2;
    std::string bytes;
    while (!hex.empty()) {
        if (hex.front() == ' ') {
            hex.remove_prefix(1);
            continue;
        }
        const auto byte = parse_number<unsigned>(hex.substr(0, digits), 16);
        if (hex.size() < digits || !byte) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(*byte));
        hex.remove_prefix(digits);
    }
    return bytes;
}

FrameReader::FrameReader(const FrameFormat& format) : format_(checked(format)) {
    kept_.reserve(format_.frame_bytes);
}

void FrameReader::open(SampleBatch& batch) {
    channels_.clear();
    for (const FrameChannel& channel : format_.channels) {
        channels_.push_back(batch.add_channel(channel.name, channel.unit));
    }
    refused_count_.channel = batch.add_channel("frames.refused", "1");
}

std::size_t FrameReader::feed(std::string_view bytes, SampleBatch& batch) {
    const std::uint64_t before = good_;
    while (!bytes.empty()) {
        const bool has_start = kept_.size() >= format_.start.size();
        const std::size_t wanted = has_start ? format_.frame_bytes - kept_.size() : 1;
        const std::size_t taken = std::min(wanted, bytes.size());
        kept_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (!has_start) {
            find_start(0, batch);
        }
        if (kept_.size() == format_.frame_bytes) {
            parse_frame(batch);
        }
    }
    return static_cast<std::size_t>(good_ - before);
}

void FrameReader::parse_frame(SampleBatch& batch) {
    if (!is_intact()) {
        refuse("wrong checksum", kept_, batch);
        find_start(1, batch);
        return;
    }
    for (std::size_t index = 0; index < channels_.size(); ++index) {
        add_sample(index, batch);
    }
    ++good_;
    in_step_ = true;
    kept_.clear();
}

/// Drops the bytes at the front up to the next position, at least `from`, where start bytes begin or may begin.
void FrameReader::find_start(std::size_t from, SampleBatch& batch) {
    const std::string_view start = format_.start;
    std::size_t at = from;
    while (at < kept_.size() && std::string_view(kept_).substr(at, start.size()) !=
                                    start.substr(0, std::min(start.size(), kept_.size() - at))) {
        ++at;
    }
    skipped_bytes_ += at;
    // After opening, fewer bytes than a frame may be the rest of one.
    if (at > 0 && (in_step_ || skipped_bytes_ > format_.frame_bytes)) {
        refuse("bytes outside of a frame", std::string_view(kept_).substr(0, at), batch);
    }
    kept_.erase(0, at);
}

void FrameReader::refuse(std::string_view why, std::string_view bytes, SampleBatch& batch) {
    ++refused_;
    why_ = why;
    batch.refused(why, hex_excerpt(bytes));
    in_step_ = false;
    skipped_bytes_ = 0;
}

bool FrameReader::is_intact() const noexcept {
    const std::size_t sum_bytes = checksum_bytes(format_.checksum);
    const std::string_view frame = kept_;
    const std::string_view covered = frame.substr(0, frame.size() - sum_bytes);
    return load_little_endian(frame.substr(covered.size())) == checksum_of(format_.checksum, covered);
}

void FrameReader::add_sample(std::size_t index, SampleBatch& batch) const {
    const FrameChannel& channel = format_.channels[index];
    const FrameNumber number = channel.number;
    const std::string_view bytes = std::string_view(kept_).substr(channel.offset, number.bytes);
    const std::uint64_t bits = number.little_endian ? load_little_endian(bytes) : load_big_endian(bytes);
    constexpr auto integer_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (number.kind == FrameNumber::Kind::real) {
        batch.add(channels_[index], number.bytes == sizeof(float)
                                        ? shortest_real(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                                        : std::bit_cast<double>(bits));
    } else if (number.kind == FrameNumber::Kind::signed_integer) {
        const unsigned unused = 64U - bits_per_byte * number.bytes;
        batch.add(channels_[index], static_cast<std::int64_t>(bits << unused) >> unused);  // extends the sign
    } else if (bits <= integer_max) {
        batch.add(channels_[index], static_cast<std::int64_t>(bits));
    } else {
        batch.add(channels_[index], static_cast<double>(bits));  // the nearest double
    }
}

void FrameReader::restart(bool /*within_line*/) noexcept {
    kept_.clear();
    in_step_ = false;
    skipped_bytes_ = 0;
}

}  // namespace telegate
