#pragma once

#include <cstddef>
#include <string_view>

namespace telegate {

/// U+FFFD, which replaces a byte that is not UTF-8.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

[[nodiscard]] inline unsigned byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

/// Returns the number of bytes of the well-formed UTF-8 character at the start of `bytes` (RFC 3629: shortest form, no
/// surrogates, up to U+10FFFF); 0 if there is none. Threads: any.
[[nodiscard]] std::size_t utf8_bytes(std::string_view bytes) noexcept;

/// Copies `bytes` and replaces each byte that is not UTF-8; returns the end. `out` needs three times the size of
/// `bytes`.
char* put_utf8(char* out, std::string_view bytes) noexcept;

}  // namespace telegate
