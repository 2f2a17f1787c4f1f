#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// One log line as JSON: time, level and message, then each key=value of `text` as a member of its own. A value in
/// quotes may hold spaces and, as log_value() writes them, quotes; whole numbers, true and false become what they are;
/// a key that comes again becomes an array. Bytes that are not UTF-8 are replaced. Of a text that is too long for one
/// line only the beginning is there, and a member "cut". Ends with a line break.
[[nodiscard]] std::string json_log_line(std::string_view time, std::string_view level, std::string_view text);

}  // namespace telegate
