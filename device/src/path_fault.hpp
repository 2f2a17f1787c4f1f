#pragma once

#include <string>

namespace telegate {

/// Returns the text of an errno, such as "Connection refused".
[[nodiscard]] std::string error_words(int error);

/// Return why the path cannot be accessed with `mode` (see access()), or, for a tty, why it is not a character device;
/// "" if it can. Open nothing.
[[nodiscard]] std::string path_fault(const std::string& path, int mode);
[[nodiscard]] std::string tty_fault(const std::string& path, int mode);

}  // namespace telegate
