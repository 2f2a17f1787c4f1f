#pragma once

#include "lines/line_fields.hpp"

#include <optional>
#include <string_view>

/// What the words of a line are worth, without a copy, an allocation or a locale.
namespace telegate {

/// Whether it is well-formed UTF-8 (RFC 3629) without a NUL byte.
[[nodiscard]] bool is_plain_text(std::string_view text) noexcept;

/// Without the blanks and tabs around it.
[[nodiscard]] std::string_view without_blanks(std::string_view text) noexcept;

/// A number, or no value for an empty word, NaN, an infinity or what no double holds; nullopt for what is no number.
[[nodiscard]] std::optional<FieldValue> number_of(std::string_view word) noexcept;

/// The same, and text for what is no number.
[[nodiscard]] FieldValue number_or_text(std::string_view word) noexcept;

/// true, false, on, off, yes, no, in capitals or not.
[[nodiscard]] std::optional<bool> to_boolean(std::string_view word) noexcept;

/// The begin of a text for a message: not much of it, and whole characters.
[[nodiscard]] std::string_view excerpt(std::string_view text) noexcept;

}  // namespace telegate
