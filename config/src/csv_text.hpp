#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The separator of a CSV text by its first line: the first comma, semicolon or tab in it; a comma if it has none.
[[nodiscard]] char csv_separator(std::string_view first_line) noexcept;

/// The fields of one line, without blanks at their ends. A field in double quotes may hold the separator, and "" for a
/// quote. nullopt when a quoted field does not end, or something follows its end.
[[nodiscard]] std::optional<std::vector<std::string>> csv_fields(std::string_view line, char separator);

}  // namespace telegate
