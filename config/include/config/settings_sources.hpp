#pragma once

#include "config/settings.hpp"

#include <compare>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// The sources of settings. Later sources override earlier ones: defaults, `file`, drop-ins, `environment`,
/// `assignments`, `log_level`.
struct SettingsSources {
    std::string file = {};            // --config; "": none
    std::string drop_in_folder = {};  // --config-dir; "": conf.d next to `file`, if it exists
    std::vector<std::pair<std::string, std::string>> environment = {};  // variables that begin with TELEGATE_
    std::vector<std::string> assignments = {};                          // --set section.key=value, in order
    std::string log_level = {};                                         // --log-level; "": not given
};

/// One setting: the section of its row, the name of the section if there are several of this kind, and the key.
struct SettingKey {
    std::string section;
    std::string name;
    std::string key;

    [[nodiscard]] auto operator<=>(const SettingKey&) const = default;
};

struct LoadedSettings {
    Settings settings;
    std::vector<std::string> warnings;  // environment variables that match no setting
};

/// Maximum number of files in a drop-in directory: one for each section that there can be.
inline constexpr std::size_t drop_ins_max = 256;
/// Maximum number of warnings of one load; further ones are counted in the last one.
inline constexpr std::size_t settings_warnings_max = 50;

/// Reads and checks all sources. Throws SettingsError with all problems of all sources. If a file cannot be read, only
/// the unreadable files are reported, because the other problems might be consequences.
[[nodiscard]] LoadedSettings load_settings(const SettingsSources& sources);

/// Returns a text that changes whenever a settings file of these sources is written, added or removed: inode, size and
/// time of each file. Threads: any. Failure: a file that cannot be read contributes none of these.
[[nodiscard]] std::string files_stamp(const SettingsSources& sources);

}  // namespace telegate
