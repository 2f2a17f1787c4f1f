#pragma once

#include "config/setting_row.hpp"
#include "config/settings_instances.hpp"

#include <string>

namespace telegate::test {

/// Returns all settings with their values, by the table, to compare settings.
inline std::string all_values(Settings settings) {
    std::string text;
    walk(settings, [&](const SettingSpot& spot) {
        const SettingKey key = spot.key();
        text += key.section + '.' + key.name + '.' + key.key + " = " + value_text(spot.row, spot.owner) + '\n';
    });
    return text;
}

}  // namespace telegate::test
