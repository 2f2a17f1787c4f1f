#pragma once

#include "config/setting_row.hpp"

#include <span>
#include <string_view>

namespace telegate {

/// The settings that a type, such as a driver, adds to the sections that have it.
struct TypeRows {
    std::string_view type = {};             // "": the settings are those of all types
    std::span<const SettingRow> rows = {};  // without `type`
};

// The config module does not know any type. The tables of the other rooms define these functions. They return the types
// sorted by name, after the settings of all types.

/// The drivers of devices, which also add settings to channels: device/src/driver_table.cpp.
[[nodiscard]] std::span<const TypeRows> driver_rows();
/// The types of uplinks: uplink/src/types/uplink_table.cpp.
[[nodiscard]] std::span<const TypeRows> uplink_rows();

}  // namespace telegate
