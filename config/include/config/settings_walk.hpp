#pragma once

#include "config/setting_row.hpp"
#include "config/settings_sources.hpp"

#include <functional>
#include <string>

namespace telegate {

/// One setting of a Settings value: what the table says of it, and where its value is.
struct SettingSpot {
    const SettingRow& row;
    const std::string& name;  // of the instance; "" where the section has none
    SettingOwner owner;

    [[nodiscard]] SettingKey key() const { return {std::string(row.section), name, std::string(row.key)}; }
};

/// Calls `visit` for every setting there is, in the order of the table, instances in their own order; the settings of
/// other drivers than a device has are left out, also of its channels.
void walk(Settings& settings, const std::function<void(const SettingSpot&)>& visit);

}  // namespace telegate
