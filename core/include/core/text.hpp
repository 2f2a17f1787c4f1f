#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/// Functions for text that do not depend on a locale. Threads: any.
namespace telegate {

[[nodiscard]] constexpr char to_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns whether two texts are equal, ignoring the case of ASCII letters.
[[nodiscard]] constexpr bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return to_lower(a) == to_lower(b); });
}

/// Returns the text without the characters `blanks` at its beginning and end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t") noexcept {
    const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Parses the whole text as a number, with the base or format of std::from_chars(). Returns nullopt if it is not a
/// number or does not fit in the type.
template <class Number, class... Form>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Form... form) noexcept {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number, form...);
    return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// Appends two hexadecimal digits.
inline void append_hex(std::string& out, unsigned byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += digits[byte >> 4U & 0xFU];
    out += digits[byte & 0xFU];
}

/// Appends each byte as \xNN, for bytes that a reader would not see.
inline void append_escaped(std::string& out, std::string_view bytes) {
    for (const char c : bytes) {
        out += "\\x";
        append_hex(out, static_cast<unsigned char>(c));
    }
}

}  // namespace telegate
