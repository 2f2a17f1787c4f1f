#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Any bytes as UTF-8 text that shows them all: control characters and bytes that are not UTF-8 become \xNN, a
/// backslash becomes two. Threads: any.
[[nodiscard]] std::string to_readable(std::string_view bytes);

}  // namespace telegate
