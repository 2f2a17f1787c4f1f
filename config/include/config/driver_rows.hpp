#pragma once

#include "config/setting_row.hpp"

#include <any>
#include <span>
#include <string_view>

namespace telegate {

/// The settings that a driver adds to the sections of its devices and their channels.
struct DriverRows {
    std::string_view driver = {};
    std::span<const SettingRow> rows = {};  // without `driver`
};

/// Returns the drivers, sorted by name. The config module does not know any driver: device/src/driver_table.cpp defines
/// this function.
[[nodiscard]] std::span<const DriverRows> driver_rows();

/// Returns the driver-specific settings of a device or channel; T is the driver's own type. The first form creates them
/// with default values if none are set; the second form returns the defaults.
/// Threads: one at a time for the first form, any for the second.
template <class Part>
[[nodiscard]] Part& part_of(std::any& settings) {
    Part* const part = std::any_cast<Part>(&settings);
    return part == nullptr ? settings.emplace<Part>() : *part;
}
template <class Part>
[[nodiscard]] const Part& part_of(const std::any& settings) {
    static const Part defaults;
    const Part* const part = std::any_cast<Part>(&settings);
    return part == nullptr ? defaults : *part;
}

/// Returns the location of a member of driver-specific settings: driver_slot<&HttpSettings::url>.
template <auto member>
SettingSlot driver_slot(const SettingOwner& owner) {
    const auto place = []<class Part, class Value>(std::any& settings, Value Part::*wanted) {
        return SettingSlot(&(part_of<Part>(settings).*wanted));
    };
    if (ChannelSettings* const* const channel = std::get_if<ChannelSettings*>(&owner)) {
        return place((*channel)->driver_settings, member);
    }
    return place(std::get<DeviceSettings*>(owner)->driver_settings, member);
}

}  // namespace telegate
