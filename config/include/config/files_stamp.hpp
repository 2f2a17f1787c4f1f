#pragma once

#include "config/settings_sources.hpp"

#include <string>

namespace telegate {

/// Returns a text that changes whenever a settings file of these sources is written, added or removed: inode, size and
/// time of each file. Threads: any. Failure: a file that cannot be read contributes none of these.
[[nodiscard]] std::string files_stamp(const SettingsSources& sources);

}  // namespace telegate
