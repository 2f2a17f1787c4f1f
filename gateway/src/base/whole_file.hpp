#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

// Files that are read and written as a whole. Threads: any. Failure: they throw std::system_error.

/// What a path leads to when it, or what it leads to, is a symbolic link. A link of another user than this process' and
/// root is permission_denied: in a folder such as /tmp anybody may have put it there.
[[nodiscard]] std::string link_target(std::string path);

/// The contents. file_too_large above `bytes_max`, invalid_argument for what is no regular file.
[[nodiscard]] std::string read_whole_file(const std::string& path, std::size_t bytes_max);

/// A new file of these contents, with mode 0600, takes the place of the old one, also when the machine stops in the
/// middle: it is always the old or the new one.
void replace_whole_file(const std::string& path, std::string_view text);

}  // namespace telegate
