#pragma once

#include "core/endian.hpp"

#include <cstddef>
#include <cstdint>

namespace telegate {

/// The major type: the first three bits of a CBOR item.
enum class CborMajor : std::uint8_t { whole = 0x00, negative = 0x20, text = 0x60, map = 0xA0 };

inline constexpr std::size_t cbor_item_bytes_max = 9;  // of a number, or of the head of a text

inline char* put_cbor_byte(char* out, std::uint64_t byte) noexcept {
    *out = static_cast<char>(byte);
    return out + 1;
}

template <std::unsigned_integral T>
char* put_cbor_number(char* out, T value) noexcept {
    store_big_endian(out, value);
    return out + sizeof value;
}

/// Writes the head of an item with its number in the shortest form.
inline char* put_cbor_head(char* out, CborMajor major, std::uint64_t number) noexcept {
    const auto first = static_cast<std::uint64_t>(major);
    if (number < 24) {
        return put_cbor_byte(out, first | number);
    }
    if (number <= UINT8_MAX) {
        return put_cbor_byte(put_cbor_byte(out, first | 24), number);
    }
    if (number <= UINT16_MAX) {
        return put_cbor_number(put_cbor_byte(out, first | 25), static_cast<std::uint16_t>(number));
    }
    if (number <= UINT32_MAX) {
        return put_cbor_number(put_cbor_byte(out, first | 26), static_cast<std::uint32_t>(number));
    }
    return put_cbor_number(put_cbor_byte(out, first | 27), number);
}

inline char* put_cbor_integer(char* out, std::int64_t value) noexcept {
    return value < 0 ? put_cbor_head(out, CborMajor::negative, ~static_cast<std::uint64_t>(value))
                     : put_cbor_head(out, CborMajor::whole, static_cast<std::uint64_t>(value));
}

}  // namespace telegate
