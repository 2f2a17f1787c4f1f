#include "device/modbus_driver.hpp"
#include "plan/drivers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Indexed by the order of the enumerators, named as in the settings table.
constexpr std::array<std::string_view, 4> table_names{"coil", "discrete", "holding", "input"};
constexpr std::array<std::string_view, 9> type_names{"bool",  "int16",  "uint16",  "int32",  "uint32",
                                                     "int64", "uint64", "float32", "float64"};
constexpr std::array<std::string_view, 3> parity_names{"none", "even", "odd"};

template <class Names>
std::size_t place_of(std::string_view name, const Names& names) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::optional<int> to_int(std::optional<std::int64_t> number) {
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

ModbusChannel to_channel(const ChannelSettings& from) {
    const ModbusChannelSettings& said = from.modbus;
    ModbusChannel channel;
    channel.name = from.channel();
    channel.unit = from.unit;
    channel.unit_id = to_int(said.unit_id);
    channel.table = static_cast<ModbusTable>(place_of(said.table, table_names));
    channel.address = static_cast<int>(said.address.value_or(0));
    if (const std::size_t type = place_of(said.type, type_names); type < type_names.size()) {
        channel.type = static_cast<ModbusType>(type);
    }
    channel.low_word_first = said.word_order == "little";
    channel.byte_swap = said.byte_swap;
    channel.bit = to_int(said.bit);
    return channel;
}

}  // namespace

std::unique_ptr<Driver> make_modbus(const DeviceSettings& device, DeviceChannels channels) {
    const ModbusSettings& from = device.modbus;
    ModbusDriverOptions options;
    options.endpoint = from.endpoint;
    options.baud = static_cast<int>(from.baud);
    options.parity = static_cast<ModbusParity>(place_of(from.parity, parity_names));
    options.data_bits = static_cast<int>(from.data_bits);
    options.stop_bits = static_cast<int>(from.stop_bits);
    options.pause = std::chrono::milliseconds(from.pause_ms);
    options.unit_id = static_cast<int>(from.unit_id);
    options.timeout = std::chrono::milliseconds(from.timeout_ms);
    options.read_gap_max = static_cast<int>(from.read_gap_max);
    options.registers_max = static_cast<int>(from.registers_max);
    for (const ChannelSettings* const channel : channels) {
        if (channel->modbus.address) {
            options.channels.push_back(to_channel(*channel));
        } else {  // made by the driver, and only processed further
            refuse_given(*channel, "modbus", {"type", "table", "unit_id", "bit", "word_order", "byte_swap"},
                         "without an address, allowed: only with address");
        }
    }
    return make_modbus_driver(std::move(options));
}

}  // namespace telegate
