#pragma once

#include <iosfwd>
#include <string_view>

namespace telegate {

/// Returns `code` if the whole text was written. Otherwise writes the reason to `errors` and returns
/// exit_code::io_error, so that a script does not mistake truncated output for complete output. Threads: one.
[[nodiscard]] int write_out(std::ostream& out, std::ostream& errors, std::string_view text, int code);

}  // namespace telegate
