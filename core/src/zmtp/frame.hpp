#pragma once

#include "core/assert.hpp"
#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

/// The unit on the wire: `flags size body`. A view; its lifetime depends on the function that returns it.
struct Frame {
    std::uint8_t flags = 0;
    Bytes body;

    [[nodiscard]] bool more() const noexcept { return (flags & frame_flag::more) != 0; }
    [[nodiscard]] bool is_command() const noexcept { return (flags & frame_flag::command) != 0; }
    [[nodiscard]] const std::byte* end() const noexcept { return body.data() + body.size(); }
};

/// Returns the fault of the first byte of a frame; empty if a frame may begin with it.
[[nodiscard]] constexpr std::string_view flags_fault(unsigned flags) noexcept {
    constexpr unsigned more_command = frame_flag::more | frame_flag::command;
    if ((flags & ~(more_command | frame_flag::long_size)) != 0) {
        return "reserved frame flag set";
    }
    return (flags & more_command) == more_command ? "command frame with MORE" : std::string_view{};
}

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

/// Returns the frame that starts at `wire`, without long_size in its flags. `wire` must be the output of the encoder,
/// because it is not validated.
[[nodiscard]] inline Frame frame_at(const std::byte* wire) noexcept {
    const auto flags = std::to_integer<std::uint8_t>(wire[0]);
    if ((flags & frame_flag::long_size) != 0) {
        const auto body_bytes = static_cast<std::size_t>(load_big_endian<std::uint64_t>(wire + 1));
        return {static_cast<std::uint8_t>(flags & ~frame_flag::long_size), {wire + frame_header_bytes_max, body_bytes}};
    }
    return {flags, {wire + 2, std::to_integer<std::size_t>(wire[1])}};
}

/// Returns the size in bytes of the message that starts at `wire`, with all its frames; see frame_at().
[[nodiscard]] inline std::size_t message_bytes_at(const std::byte* wire) noexcept {
    Frame frame = frame_at(wire);
    while (frame.more()) {
        frame = frame_at(frame.end());
    }
    return static_cast<std::size_t>(frame.end() - wire);
}

/// Returns the number of bytes that write_message() needs for these frames or texts.
template <class Frames>
[[nodiscard]] std::size_t message_bytes(const Frames& frames) noexcept {
    std::size_t bytes = 0;
    for (const auto& frame : frames) {
        bytes += frame_header_bytes(frame.size()) + frame.size();
    }
    return bytes;
}

/// Writes a message of these frames or texts to `out`.
template <class Frames>
void write_message(std::byte* out, const Frames& frames) noexcept {
    std::size_t left = frames.size();
    for (const auto& frame : frames) {
        const std::uint8_t flags = --left > 0 ? frame_flag::more : std::uint8_t{0};
        out += write_frame_header(out, flags, frame.size());
        if (!frame.empty()) {  // data() of an empty frame may be null
            std::memcpy(out, frame.data(), frame.size());
            out += frame.size();
        }
    }
}

}  // namespace telegate::zmtp
