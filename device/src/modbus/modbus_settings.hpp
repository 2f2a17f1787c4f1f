#pragma once

#include "config/enum_names.hpp"
#include "device/driver_row.hpp"
#include "modbus/modbus_driver.hpp"

#include <optional>
#include <string>

namespace telegate {

/// The settings of a device with the driver modbus.
struct ModbusSettings {
    ModbusDriverOptions options = {};
    std::string registers = {};  // a channel table, read when the settings are loaded; "": none
};

/// The settings of a channel of such a device.
struct ModbusChannelSettings {
    ModbusChannel channel = {};
    std::optional<int> address = {};  // nullopt: the channel is not read
};

inline constexpr auto modbus_tables = enum_names(named_modbus_tables);

/// Adds warnings about the channels of a modbus device for settings that are valid but usually mistakes: addresses as
/// numbered in manuals, such as 40101, and channels whose registers partly overlap (at most 20 warnings).
void add_modbus_warnings(const DeviceSettings& device, DeviceChannels channels, std::vector<SettingsProblem>& warnings);

}  // namespace telegate
