#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace telegate {

enum class SettingSource : std::uint8_t { file, environment, command_line };

/// The place where a section or a key is given.
struct SettingsPlace {
    std::string name;      // file, variable, or option as given; "" for none, as in JSON
    std::size_t line = 0;  // line in the file, from 1; 0: no line
    SettingSource source = SettingSource::file;

    /// Returns "FILE:LINE", "env TELEGATE_X" or "--set SECTION.KEY=VALUE".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool operator==(const SettingsPlace&) const = default;
};

/// The places of the keys that one section gives.
using SettingsPlaces = std::map<std::string, SettingsPlace, std::less<>>;

}  // namespace telegate
