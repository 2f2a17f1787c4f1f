#pragma once

#include "core/ledger.hpp"

#include <string>
#include <string_view>

namespace telegate {

/// Any bytes as the value in a key=value of a log line: readable, see to_readable(), and in quotes when it is empty or
/// has blanks, quotes or equals signs; a quote in it becomes \". So nobody can end a value early and add members of his
/// own to the line. json_log_line() reads it back. Threads: any.
[[nodiscard]] std::string log_value(std::string_view bytes);

/// The same, always in quotes: in JSON it is a text, also when it looks like a number.
[[nodiscard]] std::string log_quoted(std::string_view bytes);

/// The counts of one device's samples: "sampled=10 published=10 ...".
[[nodiscard]] std::string books_text(const Books& books);

}  // namespace telegate
