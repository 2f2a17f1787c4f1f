#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telegate::exec {

/// The words of a command, which blanks part. Within single quotes everything is as it is; within double quotes a
/// backslash keeps a double quote or another backslash; elsewhere it keeps any character. Nothing is expanded: no $, no
/// *, no ~. Throws std::invalid_argument when a quote does not end, a backslash is last, or there is no word.
[[nodiscard]] std::vector<std::string> split_command(std::string_view text);

}  // namespace telegate::exec
