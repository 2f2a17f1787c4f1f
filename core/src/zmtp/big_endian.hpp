#pragma once

#include <concepts>
#include <cstddef>

namespace telegate::zmtp {

/// Reads sizeof(T) bytes, most significant first: the byte order of every number in ZMTP. Threads: any.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_big_endian(const std::byte* from) noexcept {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>((value << 8U) | std::to_integer<T>(from[i]));
    }
    return value;
}

/// Writes sizeof(T) bytes, most significant first. Threads: any.
template <std::unsigned_integral T>
constexpr void store_big_endian(std::byte* to, T value) noexcept {
    for (std::size_t i = sizeof(T); i > 0; --i) {
        to[i - 1] = static_cast<std::byte>(value & 0xFFU);
        value = static_cast<T>(value >> 8U);
    }
}

}  // namespace telegate::zmtp
