#pragma once

#include "sample.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace telegate::tail {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Appends `text` as a field of CSV (RFC 4180).
void append_csv_text(std::string& out, std::string_view text);
/// Appends `text` for a terminal. Control characters become `\x1b`, so that a peer cannot send escape sequences to it,
/// and bytes that are not UTF-8 become U+FFFD.
void append_printable(std::string& out, std::string_view text);

/// Appends blanks to the text that begins at `begin`, up to this width.
void pad(std::string& out, std::size_t begin, std::size_t width);
/// Appends a cell of a table, aligned on the right; at least one blank precedes its text.
void append_right(std::string& out, std::string_view text, std::size_t width);

/// Returns the value of a sample, to which its text points.
[[nodiscard]] Value value_of(const TelemetrySample& sample) noexcept;
/// Appends the shortest text of a number. Also appends numbers that JSON does not have, such as nan.
template <class Number>
void append_number(std::string& out, Number number) {
    std::array<char, 32> digits;
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}
/// Appends a value as in the json format.
void append_json_value(std::string& out, const Value& value);
/// Appends a value for text output and tables: text without quotes, and nothing if there is no value.
void append_plain_value(std::string& out, const Value& value);

}  // namespace telegate::tail
