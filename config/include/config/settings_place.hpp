#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace telegate {

enum class SettingSource : std::uint8_t { file, environment, command_line };

/// Where a section or a key is given.
struct SettingsPlace {
    std::string name;      // of the file or the variable, or the option as it was given; "" for none, as in JSON
    std::size_t line = 0;  // of a file, from 1; 0 when no line is meant
    SettingSource source = SettingSource::file;

    /// "FILE:LINE", "env TELEGATE_X", "--set SECTION.KEY=VALUE".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool operator==(const SettingsPlace&) const = default;
};

/// Of the keys of one section that are given.
using SettingsPlaces = std::map<std::string, SettingsPlace, std::less<>>;

}  // namespace telegate
