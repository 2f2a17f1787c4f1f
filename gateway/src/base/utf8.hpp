#pragma once

#include <cstddef>
#include <string_view>

namespace telegate {

/// Stands where a byte is not UTF-8: U+FFFD.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

[[nodiscard]] inline unsigned byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

/// Bytes of the well-formed UTF-8 character at the start of `bytes` (RFC 3629: shortest form, no surrogates, up to
/// U+10FFFF), or 0 when there is none. Threads: any.
[[nodiscard]] std::size_t utf8_bytes(std::string_view bytes) noexcept;

/// Copies `bytes` with each one that is not UTF-8 replaced; returns the end. Room needed: three times as many.
char* put_utf8(char* out, std::string_view bytes) noexcept;

}  // namespace telegate
