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

/// The files of a directory of drop-ins, sorted by name.
struct DropIns {
    std::vector<std::string> files;    // *.ini that are not hidden
    std::vector<std::string> ignored;  // *.conf, which other programs read in such a directory
};

/// If the directory does not exist, returns none if `may_be_missing`, else sets `error`.
[[nodiscard]] DropIns drop_ins_in(const std::string& folder, bool may_be_missing, std::error_code& error);

/// Returns conf.d in the directory of `file`.
[[nodiscard]] std::string drop_in_folder_beside(const std::string& file);

}  // namespace telegate
