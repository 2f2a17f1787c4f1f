#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telegate::exec {

/// Splits a command into words at blanks. Single quotes preserve everything literally. In double quotes a backslash
/// escapes a double quote or another backslash; elsewhere it escapes any character. Nothing is expanded: no $, no *, no
/// ~. Throws std::invalid_argument for an unterminated quote, a backslash at the end, or a command without words.
[[nodiscard]] std::vector<std::string> split_command(std::string_view text);

}  // namespace telegate::exec
