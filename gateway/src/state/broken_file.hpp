#pragma once

#include "log/log.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// The maximum number of files PATH.broken, PATH.broken2 and so on. Beyond that the last one is replaced.
inline constexpr std::size_t broken_files_max = 8;

/// Renames an unusable file and logs it as `WHAT not used file=PATH reason=... renamed_to=...`. Threads: any. Failure:
/// a file that cannot be renamed stays; the log line then has no `renamed_to`.
void rename_broken(Log& log, std::string_view what, const std::string& path, std::string_view why);

}  // namespace telegate
