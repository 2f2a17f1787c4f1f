#pragma once

#include "config/setting_row.hpp"
#include "config/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One difference between two settings: one value, or a whole section such as [device "boiler"] that came or went.
struct SettingChange {
    enum class Kind : std::uint8_t { changed, added, removed };

    std::string section;
    std::string name;  // of the section; "" where it has none
    std::string key;   // "" for a section that came or went
    std::string from;  // as in a file
    std::string to;
    Applies applies = Applies::live;
    Kind kind = Kind::changed;
};

[[nodiscard]] std::string_view to_string(SettingChange::Kind kind) noexcept;

/// "device.boiler.interval_ms", "queue.policy", "publish.local".
[[nodiscard]] std::string key_text(const SettingChange& change);

/// What is different in `to`, by the settings table: sections without a name first, then those that went, came and
/// changed. The order of sections makes no difference. A section is known by its name: one that is renamed went and
/// came. Of a device with another driver only that and what all drivers have is
/// compared, and of its channels only the latter.
[[nodiscard]] std::vector<SettingChange> diff(const Settings& from, const Settings& to);

}  // namespace telegate
