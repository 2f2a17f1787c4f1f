#pragma once

#include "config/setting_row.hpp"
#include "config/settings_sources.hpp"

#include <functional>
#include <string>

namespace telegate {

/// One setting of a Settings value: its row in the table, and where its value is stored.
struct SettingSpot {
    const SettingRow& row;
    const std::string& name;  // of the instance; "" if the section has none
    SettingOwner owner;

    [[nodiscard]] SettingKey key() const { return {std::string(row.section), name, std::string(row.key)}; }
};

/// Calls `visit` for every setting, in the order of the table and of the instances. Settings of drivers
/// other than the device's are omitted, also for its channels.
void walk(Settings& settings, const std::function<void(const SettingSpot&)>& visit);

}  // namespace telegate
