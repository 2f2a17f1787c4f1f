#pragma once

#include "config/setting_row.hpp"

#include <span>
#include <string_view>

namespace telegate {

/// The settings that a driver adds to the sections of its devices and their channels.
struct DriverRows {
    std::string_view driver = {};           // "": the settings are those of all drivers
    std::span<const SettingRow> rows = {};  // without `driver`
};

/// Returns the drivers, sorted by name, after the settings of all drivers. The config module does not know any driver:
/// device/src/driver_table.cpp defines this function.
[[nodiscard]] std::span<const DriverRows> driver_rows();

}  // namespace telegate
