#pragma once

#include "config/enum_names.hpp"
#include "device/driver_row.hpp"
#include "modbus/modbus_driver.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// The settings of a device with the driver modbus.
struct ModbusSettings {
    std::string endpoint;
    std::string registers;  // a channel table, read when the settings are loaded; "": none
    std::int64_t baud = 9'600;
    std::string parity = "none";
    std::int64_t data_bits = 8;
    std::int64_t stop_bits = 1;
    std::int64_t pause_ms = 0;
    std::int64_t unit_id = 1;
    std::int64_t timeout_ms = 500;
    std::int64_t read_gap_max = 8;
    std::int64_t registers_max = 125;
};

/// The settings of a channel of such a device.
struct ModbusChannelSettings {
    std::optional<std::int64_t> unit_id;  // not set: the device's
    std::string table = "holding";
    std::optional<std::int64_t> address;  // not set: the channel is not read
    std::string type = "auto";
    std::string word_order = "big";
    bool byte_swap = false;
    std::optional<std::int64_t> bit;  // not set: the whole register
};

inline constexpr auto modbus_tables = enum_names(named_modbus_tables);

/// Adds warnings about the channels of a modbus device for settings that are valid but usually mistakes: addresses as
/// numbered in manuals, such as 40101, and channels whose registers partly overlap (at most 20 warnings).
void add_modbus_warnings(const DeviceSettings& device, DeviceChannels channels, std::vector<SettingsProblem>& warnings);

}  // namespace telegate
