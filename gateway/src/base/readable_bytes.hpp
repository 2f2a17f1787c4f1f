#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Returns the bytes as readable UTF-8 text: control characters and bytes that are not UTF-8 become \xNN, a backslash
/// is doubled. Threads: any.
[[nodiscard]] std::string to_readable(std::string_view bytes);

}  // namespace telegate
