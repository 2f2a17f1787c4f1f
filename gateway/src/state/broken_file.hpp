#pragma once

#include "log/log.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// Files PATH.broken, PATH.broken2 and so on that are kept; beyond that the last one is replaced.
inline constexpr std::size_t broken_files_max = 8;

/// Renames a file that cannot be used, and logs it as `WHAT not used file=PATH why=... renamed_to=...`.
/// Threads: any. Failure: a file that cannot be renamed stays; the log line then has no `renamed_to`.
void rename_broken(Log& log, std::string_view what, const std::string& path, std::string_view why);

}  // namespace telegate
