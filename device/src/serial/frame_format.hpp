#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The checksum at the end of a frame, computed over all bytes before it.
enum class FrameChecksum : std::uint8_t {
    none,
    sum8,   // sum of the bytes
    xor8,   // exclusive or of the bytes
    crc16,  // CRC-16 as in Modbus, low byte first
};

/// The encoding of a number in a frame.
struct FrameNumber {
    enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real };
    Kind kind = Kind::unsigned_integer;
    std::uint8_t bytes = 1;  // integers 1, 2, 4, 8; reals 4, 8
    bool little_endian = false;

    [[nodiscard]] bool operator==(const FrameNumber&) const = default;
};

/// The encodings and their names in settings. `none`: the value is not in a frame.
inline constexpr std::pair<std::string_view, std::optional<FrameNumber>> named_frame_numbers[] = {
    {"none", std::nullopt},
    {"int8", FrameNumber{FrameNumber::Kind::signed_integer, 1}},
    {"uint8", FrameNumber{FrameNumber::Kind::unsigned_integer, 1}},
    {"int16_be", FrameNumber{FrameNumber::Kind::signed_integer, 2, false}},
    {"int16_le", FrameNumber{FrameNumber::Kind::signed_integer, 2, true}},
    {"uint16_be", FrameNumber{FrameNumber::Kind::unsigned_integer, 2, false}},
    {"uint16_le", FrameNumber{FrameNumber::Kind::unsigned_integer, 2, true}},
    {"int32_be", FrameNumber{FrameNumber::Kind::signed_integer, 4, false}},
    {"int32_le", FrameNumber{FrameNumber::Kind::signed_integer, 4, true}},
    {"uint32_be", FrameNumber{FrameNumber::Kind::unsigned_integer, 4, false}},
    {"uint32_le", FrameNumber{FrameNumber::Kind::unsigned_integer, 4, true}},
    {"int64_be", FrameNumber{FrameNumber::Kind::signed_integer, 8, false}},
    {"int64_le", FrameNumber{FrameNumber::Kind::signed_integer, 8, true}},
    {"uint64_be", FrameNumber{FrameNumber::Kind::unsigned_integer, 8, false}},
    {"uint64_le", FrameNumber{FrameNumber::Kind::unsigned_integer, 8, true}},
    {"float32_be", FrameNumber{FrameNumber::Kind::real, 4, false}},
    {"float32_le", FrameNumber{FrameNumber::Kind::real, 4, true}},
    {"float64_be", FrameNumber{FrameNumber::Kind::real, 8, false}},
    {"float64_le", FrameNumber{FrameNumber::Kind::real, 8, true}}};

struct FrameChannel {
    std::string name;
    std::string unit;
    std::size_t offset = 0;  // from the first byte of the frame
    FrameNumber number;
};

/// Frames of a fixed length that start with fixed bytes.
struct FrameFormat {
    static constexpr std::size_t frame_bytes_most = 1'024;
    static constexpr std::size_t start_bytes_most = 8;

    std::string start;            // as raw bytes
    std::size_t frame_bytes = 0;  // including start and checksum
    FrameChecksum checksum = FrameChecksum::none;
    std::vector<FrameChannel> channels;
};

/// Returns the bytes of a hexadecimal text such as "AA 55" or "aa55"; nullopt if the text is not pairs of hexadecimal
/// digits.
[[nodiscard]] std::optional<std::string> to_frame_start(std::string_view hex);

}  // namespace telegate
