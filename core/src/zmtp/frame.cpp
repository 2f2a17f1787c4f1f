#include "zmtp/frame.hpp"

#include "core/assert.hpp"
#include "zmtp/big_endian.hpp"

namespace telegate::zmtp {

std::size_t write_frame_header(std::byte* out, std::uint8_t flags, std::uint64_t body_bytes) noexcept {
    TELEGATE_ASSERT(flags == 0 || flags == frame_flag::more || flags == frame_flag::command);
    if (body_bytes <= short_body_bytes_max) {
        out[0] = std::byte{flags};
        out[1] = static_cast<std::byte>(body_bytes);
    } else {
        out[0] = std::byte{flags} | std::byte{frame_flag::long_size};
        store_big_endian(out + 1, body_bytes);
    }
    return frame_header_bytes(body_bytes);
}

std::uint64_t frame_bytes_at(const std::byte* wire) noexcept {
    if ((wire[0] & std::byte{frame_flag::long_size}) != std::byte{0}) {
        return frame_header_bytes_max + load_big_endian<std::uint64_t>(wire + 1);
    }
    return 2 + std::to_integer<std::uint64_t>(wire[1]);
}

}  // namespace telegate::zmtp
