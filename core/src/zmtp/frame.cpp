#include "zmtp/frame.hpp"

#include "core/endian.hpp"

namespace telegate::zmtp {

std::uint64_t frame_bytes_at(const std::byte* wire) noexcept {
    if ((wire[0] & std::byte{frame_flag::long_size}) != std::byte{0}) {
        return frame_header_bytes_max + load_big_endian<std::uint64_t>(wire + 1);
    }
    return 2 + std::to_integer<std::uint64_t>(wire[1]);
}

}  // namespace telegate::zmtp
