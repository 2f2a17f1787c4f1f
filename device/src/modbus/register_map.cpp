#include "modbus/register_map.hpp"

#include "device/option_error.hpp"

#include "core/topic.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace telegate::modbus {
namespace {

/// The rates that libmodbus supports; it silently uses 9600 for any other.
constexpr std::array bauds{300,     600,     1'200,   2'400,   4'800,   9'600,   19'200,    38'400,   57'600,
                           115'200, 230'400, 460'800, 500'000, 576'000, 921'600, 1'000'000, 1'152'000};
constexpr int address_max = 65'535;

constexpr OptionRange unit_range(bool is_rtu) noexcept {
    // on a serial line, 0 is the broadcast address, which gets no response
    return is_rtu ? OptionRange{1, 247} : OptionRange{0, 255};
}

void check_line(const ModbusDriverOptions& options) {
    if (std::find(bauds.begin(), bauds.end(), options.baud) == bauds.end()) {
        refuse_value("baud", std::to_string(options.baud), one_of(bauds));
    }
    if (options.data_bits != 8) {
        refuse_value("data_bits", std::to_string(options.data_bits), "8, because RTU transfers 8-bit bytes");
    }
}

void check_device(const ModbusDriverOptions& options, bool is_rtu) {
    if (is_rtu) {
        check_line(options);
    }
    require_range("unit_id", options.unit_id, unit_range(is_rtu));
    const std::size_t channels = options.channels.size();
    require_option(channels > 0, "registers",
                   "no channels: must be the path of a CSV file, or a [channel] section must have an address");
    require_option(channels <= ModbusDriverOptions::channels_max, "registers",
                   std::to_string(channels) + " channels are too many: must be at most " +
                       std::to_string(ModbusDriverOptions::channels_max));
}

ModbusType type_of(const ModbusChannel& channel) {
    if (has_bits(channel.table)) {
        if (channel.type && *channel.type != ModbusType::boolean) {
            refuse_value("type", "a number", "bool, because a coil or discrete input is one bit", channel.name);
        }
        if (channel.bit) {
            refuse_value("bit", std::to_string(*channel.bit), "unset, because a coil or discrete input is one bit",
                         channel.name);
        }
        return ModbusType::boolean;
    }
    if (channel.bit) {
        if (channel.type && *channel.type != ModbusType::boolean) {
            refuse_value("type", "a number", "bool, because bit selects one bit", channel.name);
        }
        return ModbusType::boolean;
    }
    return channel.type.value_or(ModbusType::uint16);
}

/// The driver creates channels for its units. Their names are reserved even before these channels exist.
void check_names(const ModbusDriverOptions& options, const std::set<std::uint8_t>& units) {
    std::set<std::string> made;
    for (const std::uint8_t unit : units) {
        made.insert(ok_channel_of(unit));
        made.insert(exception_channel_of(unit));
    }
    for (const ModbusChannel& channel : options.channels) {
        if (const std::string part = to_topic_part(channel.name); made.contains(part)) {
            refuse_value("name", '"' + part + '"',
                         "any name except unit.N.ok and unit.N.exception of a unit of the device, which the driver "
                         "creates",
                         channel.name);
        }
    }
}

}  // namespace

std::string ok_channel_of(std::uint8_t unit) {
    return "unit." + std::to_string(unit) + ".ok";
}

std::string exception_channel_of(std::uint8_t unit) {
    return "unit." + std::to_string(unit) + ".exception";
}

RegisterMap to_register_map(const ModbusDriverOptions& options, bool is_rtu) {
    check_device(options, is_rtu);
    RegisterMap map;
    std::set<std::string_view> names;
    std::set<std::uint8_t> units;
    for (const ModbusChannel& channel : options.channels) {
        if (channel.name.empty() || !names.insert(channel.name).second) {
            refuse_value("name", "duplicate or empty name", "unique names", channel.name);
        }
        const int unit = channel.unit_id.value_or(options.unit_id);
        require_range("unit_id", unit, unit_range(is_rtu), channel.name);
        const ModbusType type = type_of(channel);
        const unsigned count = has_bits(channel.table) ? 1 : registers_of(type);
        if (static_cast<int>(count) > options.registers_max) {
            refuse_value("registers_max", std::to_string(options.registers_max),
                         std::to_string(count) + " or more, the size of channel \"" + channel.name + '"');
        }
        require_range("address", channel.address, {0, address_max + 1 - static_cast<int>(count)}, channel.name);
        map.ranges.push_back({static_cast<std::uint8_t>(unit), channel.table,
                              static_cast<std::uint16_t>(channel.address), static_cast<std::uint16_t>(count)});
        ValueFormat format{type, channel.low_word_first, channel.byte_swap, {}};
        if (channel.bit) {
            format.bit = static_cast<unsigned>(*channel.bit);
        }
        map.formats.push_back(format);
        units.insert(static_cast<std::uint8_t>(unit));
    }
    check_names(options, units);
    map.units.assign(units.begin(), units.end());
    return map;
}

}  // namespace telegate::modbus
