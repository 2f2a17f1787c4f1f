#pragma once

#include <iosfwd>
#include <string_view>

namespace telegate {

/// Returns `code` when all of the text has gone out; otherwise says on `errors` why not and returns
/// exit_code::io_error: a script must not take half an answer for a whole one. Threads: one.
[[nodiscard]] int write_out(std::ostream& out, std::ostream& errors, std::string_view text, int code);

}  // namespace telegate
