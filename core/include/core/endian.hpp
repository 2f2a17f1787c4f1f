#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace telegate {

static_assert(std::endian::native == std::endian::little, "big-endian processors are not supported");

/// std::byte, char or another type of one byte.
template <class T>
concept OneByte = sizeof(T) == 1 && std::is_trivially_copyable_v<T>;

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// Reads sizeof(T) bytes, most significant first. Threads: any.
template <std::unsigned_integral T, OneByte Byte>
[[nodiscard]] constexpr T load_big_endian(const Byte* from) noexcept {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>((value << 8U) | static_cast<std::uint8_t>(from[i]));
    }
    return value;
}

/// Writes sizeof(T) bytes, most significant first. Threads: any.
template <std::unsigned_integral T, OneByte Byte>
constexpr void store_big_endian(Byte* to, T value) noexcept {
    for (std::size_t i = sizeof(T); i > 0; --i) {
        to[i - 1] = static_cast<Byte>(value & 0xFFU);
        value = static_cast<T>(value >> 8U);
    }
}

/// Reads sizeof(T) bytes, least significant first. Threads: any.
template <Number T, OneByte Byte>
[[nodiscard]] T load_little_endian(const Byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Writes sizeof(T) bytes, least significant first. Threads: any.
template <Number T, OneByte Byte>
void store_little_endian(Byte* to, T value) noexcept {
    std::memcpy(to, &value, sizeof value);
}

/// Reads a number of at most eight bytes, most significant first. Threads: any.
[[nodiscard]] constexpr std::uint64_t load_big_endian(std::string_view bytes) noexcept {
    std::uint64_t value = 0;
    for (const char byte : bytes) {
        value = value << 8U | static_cast<unsigned char>(byte);
    }
    return value;
}

/// Reads a number of at most eight bytes, least significant first. Threads: any.
[[nodiscard]] inline std::uint64_t load_little_endian(std::string_view bytes) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
}

}  // namespace telegate
