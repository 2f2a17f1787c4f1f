#pragma once

#include "problem_list.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace telegate {

/// The file's bytes, but not many more than `bytes_max`. Errors are those of open() and read(), which tell a missing
/// file, a directory and a file that may not be read apart; not_supported for what is no regular file, which could keep
/// its reader waiting.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t bytes_max, std::error_code& error);
/// Of an error of read_file(), for a problem's text.
[[nodiscard]] std::string why_unreadable(const std::error_code& error);

/// The files *.ini in `folder`, sorted by name, without those that are hidden.
/// A folder that is not there has none, when `may_be_missing`; else `error` says so.
[[nodiscard]] std::vector<std::string> drop_ins_in(const std::string& folder, bool may_be_missing,
                                                   std::error_code& error);

/// conf.d in the folder of `file`.
[[nodiscard]] std::string drop_in_folder_beside(const std::string& file);

}  // namespace telegate
