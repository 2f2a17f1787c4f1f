#pragma once

#include "config/setting_row.hpp"
#include "config/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One difference between two settings: one value, or a whole section such as [device "boiler"] that was added or
/// removed.
struct SettingChange {
    enum class Kind : std::uint8_t { changed, added, removed };

    std::string section;
    std::string name;  // of the section; "" where it has none
    std::string key;   // "" for an added or removed section
    std::string from;  // as written in a file
    std::string to;
    Applies applies = Applies::live;
    Kind kind = Kind::changed;
};

[[nodiscard]] std::string_view to_string(SettingChange::Kind kind) noexcept;

/// Returns the full name: "device.boiler.interval_ms", "queue.policy", "publish.local".
[[nodiscard]] std::string key_text(const SettingChange& change);

/// Returns the changes from `from` to `to`, in the order of the settings table. For each kind of section: first
/// removed, then added and changed sections. The order of sections makes no difference. Sections are matched by name: a
/// renamed section is one removed and one added section. If the type of a section changes, only the type and
/// the settings that all types share are compared, and only the latter for the channels of a device.
[[nodiscard]] std::vector<SettingChange> diff(const Settings& from, const Settings& to);

/// Returns `wanted` with the values in force of all settings that need a restart. These are in sections without a name.
[[nodiscard]] Settings without_restarts(const Settings& in_force, Settings wanted);

}  // namespace telegate
