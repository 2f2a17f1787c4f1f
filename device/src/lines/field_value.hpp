#pragma once

#include "lines/line_fields.hpp"

#include <optional>
#include <string_view>

/// Conversion of the words of a line to values, without copies, allocations or locale.
namespace telegate {

/// Returns whether the text is well-formed UTF-8 (RFC 3629) without NUL bytes.
[[nodiscard]] bool is_plain_text(std::string_view text) noexcept;

/// Returns the text without leading and trailing blanks and tabs.

/// Returns a number. Returns no value (monostate) for an empty word, NaN, an infinity or a number that a double cannot
/// represent, and nullopt for a word that is not a number.
[[nodiscard]] std::optional<FieldValue> number_of(std::string_view word) noexcept;

/// Like number_of(), but returns the text if the word is not a number.
[[nodiscard]] FieldValue number_or_text(std::string_view word) noexcept;

/// Parses true, false, on, off, yes and no, ignoring case.
[[nodiscard]] std::optional<bool> to_boolean(std::string_view word) noexcept;

/// Returns the beginning of a text for messages, cut at a character boundary.
[[nodiscard]] std::string_view excerpt(std::string_view text) noexcept;

}  // namespace telegate
