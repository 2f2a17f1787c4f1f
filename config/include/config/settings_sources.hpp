#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace telegate {

/// Where settings come from. A later one wins: defaults, `file`, drop-ins, `environment`, `assignments`, `log_level`.
struct SettingsSources {
    std::string file = {};            // --config; "": none
    std::string drop_in_folder = {};  // --config-dir; "": conf.d beside `file`, if it exists
    std::vector<std::pair<std::string, std::string>> environment = {};  // those whose names begin with TELEGATE_
    std::vector<std::string> assignments = {};                          // --set section.key=value, in order
    std::string log_level = {};                                         // --log-level; "": not given
};

/// One setting, in the section of its row and, where there are several such sections, in the one of this name.
struct SettingKey {
    std::string section;
    std::string name;
    std::string key;

    friend bool operator<(const SettingKey& a, const SettingKey& b) {
        return std::tie(a.section, a.name, a.key) < std::tie(b.section, b.name, b.key);
    }
};

/// What each value that is not a default was given by.
struct SettingOrigins {
    std::map<SettingKey, SettingsPlace> given;

    /// "default", "FILE:LINE", "env TELEGATE_X", "--set" or "--log-level".
    [[nodiscard]] std::string text(const SettingKey& key) const;
};

struct LoadedSettings {
    Settings settings;
    SettingOrigins origins;
    std::vector<std::string> warnings;  // variables of the environment that are no settings
};

/// At most this many files in a folder of drop-ins: one for every section that there can be.
inline constexpr std::size_t drop_ins_max = 256;
/// Warnings of one load; those above are counted in the last one.
inline constexpr std::size_t settings_warnings_max = 50;

/// Reads and checks all sources. Throws SettingsError with every problem of every source at once. Files that cannot be
/// read are told first and alone: what the others say makes little sense without them.
[[nodiscard]] LoadedSettings load_settings(const SettingsSources& sources);

}  // namespace telegate
