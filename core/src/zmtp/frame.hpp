#pragma once

#include "core/assert.hpp"
#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <cstddef>
#include <cstdint>

namespace telegate::zmtp {

using telegate::Bytes;

/// Bits of a frame's first byte; the others are reserved and zero.
namespace frame_flag {
inline constexpr std::uint8_t more = 1;       // another frame of the same message follows
inline constexpr std::uint8_t long_size = 2;  // the size takes eight bytes, not one
inline constexpr std::uint8_t command = 4;
}  // namespace frame_flag

inline constexpr std::size_t short_body_bytes_max = 255;
inline constexpr std::size_t frame_header_bytes_max = 9;

/// The unit on the wire: `flags size body`. A view; see FrameDecoder::frame() for its lifetime.
struct Frame {
    std::uint8_t flags = 0;
    Bytes body;

    [[nodiscard]] bool more() const noexcept { return (flags & frame_flag::more) != 0; }
    [[nodiscard]] bool is_command() const noexcept { return (flags & frame_flag::command) != 0; }
};

/// Returns the size of the header of a body of this size: 2 or 9.
[[nodiscard]] constexpr std::size_t frame_header_bytes(std::uint64_t body_bytes) noexcept {
    return body_bytes <= short_body_bytes_max ? 2 : frame_header_bytes_max;
}

/// Writes the two-byte header of a body of up to short_body_bytes_max bytes to `out`.
inline void write_short_frame_header(std::byte* out, std::uint8_t flags, std::size_t body_bytes) noexcept {
    out[0] = std::byte{flags};
    out[1] = static_cast<std::byte>(body_bytes);
}

/// Writes the header to `out`, which must have space for frame_header_bytes(body_bytes), and returns that number.
/// `flags` is more, command or 0; long_size is set as needed.
inline std::size_t write_frame_header(std::byte* out, std::uint8_t flags, std::uint64_t body_bytes) noexcept {
    TELEGATE_ASSERT(flags == 0 || flags == frame_flag::more || flags == frame_flag::command);
    if (body_bytes <= short_body_bytes_max) {
        write_short_frame_header(out, flags, static_cast<std::size_t>(body_bytes));
    } else {
        out[0] = std::byte{flags} | std::byte{frame_flag::long_size};
        store_big_endian(out + 1, body_bytes);
    }
    return frame_header_bytes(body_bytes);
}

/// Returns the size of the frame that starts at `wire`, header included. `wire` must hold bytes that
/// write_frame_header() wrote.
[[nodiscard]] std::uint64_t frame_bytes_at(const std::byte* wire) noexcept;

}  // namespace telegate::zmtp
