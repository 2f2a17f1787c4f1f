#pragma once

#include <string>

namespace telegate {

/// Returns why the path cannot be used as `mode` of access() says, or why it is not a character device where it must be
/// a tty; "" when it can. Opens nothing.
[[nodiscard]] std::string path_fault(const std::string& path, int mode);
[[nodiscard]] std::string tty_fault(const std::string& path, int mode);

}  // namespace telegate
