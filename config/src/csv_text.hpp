#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Returns the separator of a CSV text, given its first line: the first comma, semicolon or tab in it; a comma if it
/// has none.
[[nodiscard]] char csv_separator(std::string_view first_line) noexcept;

/// Returns the fields of one line, without leading and trailing blanks. A field in double quotes may contain the
/// separator, and "" for a quote. Returns nullopt if a closing quote is missing or text follows it.
[[nodiscard]] std::optional<std::vector<std::string>> csv_fields(std::string_view line, char separator);

}  // namespace telegate
