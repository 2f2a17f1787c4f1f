#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// What ends a frame, computed over all bytes before it.
enum class FrameChecksum : std::uint8_t {
    none,
    sum8,   // their sum
    xor8,   // their exclusive or
    crc16,  // CRC-16 as Modbus has it, low byte first
};

/// The numbers that a frame holds.
struct FrameNumber {
    enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real };
    Kind kind = Kind::unsigned_integer;
    std::uint8_t bytes = 1;  // integers 1, 2, 4, 8; reals 4, 8
    bool little_endian = false;
};

/// int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64, all but the first two with _be or _le.
[[nodiscard]] std::optional<FrameNumber> to_frame_number(std::string_view text) noexcept;

struct FrameChannel {
    std::string name;
    std::string unit;
    std::size_t offset = 0;  // from the first byte of the frame
    FrameNumber number;
};

/// Frames of a fixed length that begin with fixed bytes.
struct FrameFormat {
    static constexpr std::size_t frame_bytes_most = 1'024;
    static constexpr std::size_t start_bytes_most = 8;

    std::string start;            // the bytes themselves
    std::size_t frame_bytes = 0;  // all of it, with start and checksum
    FrameChecksum checksum = FrameChecksum::none;
    std::vector<FrameChannel> channels;
};

/// "AA 55" or "aa55" as the bytes that it writes; nullopt for what is not pairs of hexadecimal digits.
[[nodiscard]] std::optional<std::string> to_frame_start(std::string_view hex);

}  // namespace telegate
