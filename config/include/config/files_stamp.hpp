#pragma once

#include "config/settings_sources.hpp"

#include <string>

namespace telegate {

/// A text that changes whenever a settings file of these sources is written, comes or goes: inode, size and time of
/// each. Threads: any. Failure: a file that cannot be read has none of these.
[[nodiscard]] std::string files_stamp(const SettingsSources& sources);

}  // namespace telegate
