#pragma once

#include <cstddef>
#include <string_view>

namespace telegate {

/// U+FFFD, which replaces a byte that is not UTF-8.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

[[nodiscard]] inline unsigned byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

[[nodiscard]] inline bool is_continuation(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns the number of bytes of the well-formed UTF-8 character at the start of `bytes` (RFC 3629: shortest form, no
/// surrogates, up to U+10FFFF); 0 if there is none. Threads: any.
[[nodiscard]] std::size_t utf8_bytes(std::string_view bytes) noexcept;

/// Returns whether a well-formed character is in C0 or C1, or is DEL.
[[nodiscard]] bool is_control(std::string_view character) noexcept;

/// Returns the number of characters of valid UTF-8.
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

/// Returns the length of the longest prefix of `text` that has at most `bytes_max` bytes and does not split a
/// character.
[[nodiscard]] inline std::size_t whole_characters_bytes(std::string_view text, std::size_t bytes_max) noexcept {
    if (text.size() <= bytes_max) {
        return text.size();
    }
    constexpr std::size_t continuations_max = 3;  // more in a row are not UTF-8 and can be split anywhere
    std::size_t end = bytes_max;
    while (end > 0 && end + continuations_max > bytes_max && is_continuation(text[end])) {
        --end;
    }
    return end;
}

/// Copies `bytes` and replaces each byte that is not UTF-8; returns the end. `out` needs three times the size of
/// `bytes`.
char* put_utf8(char* out, std::string_view bytes) noexcept;

}  // namespace telegate
