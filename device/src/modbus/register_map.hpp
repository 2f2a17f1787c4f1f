#pragma once

#include "modbus/frames.hpp"
#include "modbus/modbus_driver.hpp"
#include "modbus/read_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace telegate::modbus {

/// The checked options of the channels, in their order: the addresses of each channel and how its value is decoded.
struct RegisterMap {
    std::vector<AddressRange> ranges;
    std::vector<ValueFormat> formats;
    std::vector<std::uint8_t> units;  // unique, ascending
};

/// Return the names of the channels that the driver creates for a unit.
[[nodiscard]] std::string ok_channel_of(std::uint8_t unit);
[[nodiscard]] std::string exception_channel_of(std::uint8_t unit);

/// Checks all options except the syntax of the endpoint. Throws std::invalid_argument with the option, its value and
/// what is allowed.
[[nodiscard]] RegisterMap to_register_map(const ModbusDriverOptions& options, bool is_rtu);

}  // namespace telegate::modbus
