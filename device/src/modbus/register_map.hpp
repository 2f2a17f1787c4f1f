#pragma once

#include "device/modbus_driver.hpp"
#include "modbus/read_plan.hpp"
#include "modbus/register_value.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace telegate::modbus {

/// What the options say of the channels, checked: where each stands and how it is understood, in their order.
struct RegisterMap {
    std::vector<Stretch> stretches;
    std::vector<ValueFormat> formats;
    std::vector<std::uint8_t> units;  // each once, ascending
};

/// What the driver calls the channels that it makes for a unit.
[[nodiscard]] std::string ok_channel_of(std::uint8_t unit);
[[nodiscard]] std::string exception_channel_of(std::uint8_t unit);

/// Throws std::invalid_argument, with words that name the option, its value and what is allowed. Checks all options
/// but the form of the endpoint.
[[nodiscard]] RegisterMap to_register_map(const ModbusDriverOptions& options, bool is_rtu);

}  // namespace telegate::modbus
