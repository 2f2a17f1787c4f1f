#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

// Reading and writing whole files. Threads: any. Failure: functions that return no fault throw std::system_error.

/// Resolves `path` if it is a symbolic link, and the link's target likewise. A link that belongs to a user other than
/// root and the user of this process fails with permission_denied, because in a directory such as /tmp any user may
/// create it.
[[nodiscard]] std::string link_target(std::string path);

/// Returns the contents of the file. Fails with file_too_large above `bytes_max`, and with invalid_argument if it is
/// not a regular file.
[[nodiscard]] std::string read_whole_file(const std::string& path, std::size_t bytes_max);

/// Replaces the file with a new one with mode 0600. The replacement is atomic, even if the machine crashes: the path
/// has either the old or the new contents.
void replace_whole_file(const std::string& path, std::string_view text);

/// Returns an error text if `mode` gives other users access to a file with a secret; "" if it does not.
[[nodiscard]] std::string openness_fault(const std::string& path, mode_t mode);

enum class FileHolds { anything, secret };
/// Returns why this process cannot or should not use the file; "" if it can.
[[nodiscard]] std::string file_fault(const std::string& path, FileHolds what);

}  // namespace telegate
