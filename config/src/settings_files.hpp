#pragma once

#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace telegate {

/// Returns the file's bytes, reading little more than `bytes_max`. Errors are those of open() and read(), so a missing
/// file, a directory and a file without read permission differ. A file that is not a regular file is refused with
/// not_supported, because reading it could block.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t bytes_max, std::error_code& error);
/// Describes an error of read_file() for messages.
[[nodiscard]] std::string why_unreadable(const std::error_code& error);

/// Returns the *.ini files in `folder` that are not hidden, sorted by name. If the directory does not exist, returns
/// none if `may_be_missing`, else sets `error`.
[[nodiscard]] std::vector<std::string> drop_ins_in(const std::string& folder, bool may_be_missing,
                                                   std::error_code& error);

/// Returns conf.d in the directory of `file`.
[[nodiscard]] std::string drop_in_folder_beside(const std::string& file);

}  // namespace telegate
