#include "modbus/modbus_settings.hpp"

#include "device/common_settings.hpp"
#include "modbus/modbus_driver.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace modbus_driver {
namespace {

using S = ModbusSettings;
using N = ModbusChannelSettings;
using O = ModbusDriverOptions;
using C = ModbusChannel;

constexpr auto parities =
    enum_names<ModbusParity>({{"none", ModbusParity::none}, {"even", ModbusParity::even}, {"odd", ModbusParity::odd}});
constexpr auto types = enum_names<std::optional<ModbusType>>({{"auto", std::nullopt},
                                                              {"bool", ModbusType::boolean},
                                                              {"int16", ModbusType::int16},
                                                              {"uint16", ModbusType::uint16},
                                                              {"int32", ModbusType::int32},
                                                              {"uint32", ModbusType::uint32},
                                                              {"int64", ModbusType::int64},
                                                              {"uint64", ModbusType::uint64},
                                                              {"float32", ModbusType::float32},
                                                              {"float64", ModbusType::float64}});
constexpr auto word_orders = enum_names<bool>({{"big", false}, {"little", true}});  // whether the low word is first
constexpr std::array<std::string_view, 2> schemes{"tcp://", "rtu://"};
constexpr TextRule endpoint_rule{
    .holds = Holds::destination, .prefixes = schemes, .allowed = "tcp://HOST:PORT or rtu:///PATH"};
constexpr TextRule registers_rule{
    .holds = Holds::path, .prefixes = {}, .allowed = "the path of a CSV file, or empty", .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "endpoint", .rule = endpoint_rule, .applies = Applies::file,
               .required = true,
               .meaning = "Address of the units: tcp://HOST:PORT, with 502 as the default port, or a serial line, "
                          "preferably with a stable name such as one in /dev/serial/by-id.",
               .slot = slot_of<&S::options, &O::endpoint>},
    SettingRow{.section = "device", .key = "registers", .rule = registers_rule,
               .applies = Applies::file, .names_channels = true,
               .meaning = "CSV file with a row for each channel, relative to the directory of the settings file. Its "
                          "first line names the columns: name and the keys of a channel, with order for word_order. "
                          "Empty means none.",
               .slot = slot_of<&S::registers>},
    SettingRow{.section = "device", .key = "unit_id", .rule = WholeRule{.min = 0, .max = 255},
               .applies = Applies::live,
               .meaning = "Unit of the channels that do not set one; 1 to 247 on a serial line.",
               .slot = slot_of<&S::options, &O::unit_id>},
    SettingRow{.section = "device", .key = "timeout_ms", .rule = WholeRule{.min = 10, .max = 10'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Timeout of a connection attempt and of each response.",
               .slot = slot_of<&S::options, &O::timeout>},
    SettingRow{.section = "device", .key = "read_gap_max", .rule = WholeRule{.min = 0, .max = 124},
               .unit = "registers", .applies = Applies::live,
               .meaning = "Maximum number of unused registers between two channels that are read with one request.",
               .slot = slot_of<&S::options, &O::read_gap_max>},
    SettingRow{.section = "device", .key = "registers_max", .rule = WholeRule{.min = 1, .max = 125},
               .unit = "registers", .applies = Applies::live,
               .meaning = "Maximum number of registers per request.", .slot = slot_of<&S::options, &O::registers_max>},
    SettingRow{.section = "device", .key = "baud", .rule = WholeRule{.min = 300, .max = 1'152'000},
               .applies = Applies::live,
               .meaning = "Bit rate of the serial line in bits per second, one of the standard rates.",
               .slot = slot_of<&S::options, &O::baud>},
    SettingRow{.section = "device", .key = "parity", .rule = ChoiceRule{parities.names},
               .applies = Applies::live, .meaning = "Parity of the serial line.",
               .slot = choice_of<parities, &S::options, &O::parity>},
    SettingRow{.section = "device", .key = "data_bits", .rule = WholeRule{.min = 7, .max = 8},
               .applies = Applies::live,
               .meaning = "Data bits per character on the serial line; the protocol requires 8.",
               .slot = slot_of<&S::options, &O::data_bits>},
    SettingRow{.section = "device", .key = "stop_bits", .rule = WholeRule{.min = 1, .max = 2},
               .applies = Applies::live, .meaning = "Stop bits per character on the serial line.",
               .slot = slot_of<&S::options, &O::stop_bits>},
    SettingRow{.section = "device", .key = "pause_ms", .rule = WholeRule{.min = 0, .max = 1'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Pause on the serial line before each request, if 3.5 characters are too short.",
               .slot = slot_of<&S::options, &O::pause>},
    SettingRow{.section = "channel", .key = "unit_id", .rule = WholeRule{.min = 0, .max = 255},
               .applies = Applies::live, .unset = "that of the device",
               .meaning = "Unit that provides the value.", .slot = slot_of<&N::channel, &C::unit_id>},
    SettingRow{.section = "channel", .key = "table", .rule = ChoiceRule{modbus_tables.names},
               .applies = Applies::live,
               .meaning = "Table that contains the value: registers (holding, input) or bits (coil, discrete).",
               .slot = choice_of<modbus_tables, &N::channel, &C::table>},
    SettingRow{.section = "channel", .key = "address", .rule = WholeRule{.min = 0, .max = 65'535},
               .applies = Applies::live, .unset = "nothing is read",
               .meaning = "Address of the value as sent in the protocol: the first register of a table is 0.",
               .slot = slot_of<&N::address>},
    SettingRow{.section = "channel", .key = "type", .rule = ChoiceRule{types.names},
               .applies = Applies::live,
               .meaning = "Type of the value; auto means bool for a bit and uint16 for a register.",
               .slot = choice_of<types, &N::channel, &C::type>},
    SettingRow{.section = "channel", .key = "word_order", .rule = ChoiceRule{word_orders.names},
               .applies = Applies::live, .column = "order",
               .meaning = "Order of the registers of a value: the high register first (big) or the low register first "
                          "(little).",
               .slot = choice_of<word_orders, &N::channel, &C::low_word_first>},
    SettingRow{.section = "channel", .key = "byte_swap", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "Whether the low byte of each register comes first.",
               .slot = slot_of<&N::channel, &C::byte_swap>},
    SettingRow{.section = "channel", .key = "bit", .rule = WholeRule{.min = 0, .max = 15},
               .applies = Applies::live, .unset = "the whole register",
               .meaning = "One bit of the register; 0 is the lowest.", .slot = slot_of<&N::channel, &C::bit>},
};
// clang-format on

std::string_view needs(const DeviceSettings& /*device*/) {
    return "a channel that is read needs an address";
}

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels channels) {
    ModbusDriverOptions options = part_of<ModbusSettings>(device.parts).options;
    for (const ChannelSettings* const channel : channels) {
        const auto& given = part_of<ModbusChannelSettings>(channel->parts);
        if (given.address) {
            ModbusChannel& added = options.channels.emplace_back(given.channel);
            added.name = channel->channel();
            added.unit = processing_of(*channel).unit;
            added.address = *given.address;
        } else {  // a channel that the driver creates; the section only processes it
            refuse_given(*channel, "modbus", {"type", "table", "unit_id", "bit", "word_order", "byte_swap"},
                         "has no effect without an address: set address");
        }
    }
    if (options.channels.empty() && !channels.empty()) {
        throw OptionError("address", "missing: " + std::string(needs(device)),
                          std::string(channels.front()->channel()));
    }
    return make_modbus_driver(std::move(options));
}

std::optional<DeviceAddress> address(const DeviceSettings& device) {
    constexpr std::string_view rtu = "rtu://";
    const std::string& given = part_of<ModbusSettings>(device.parts).options.endpoint;
    return given.starts_with(rtu)
               ? std::optional(DeviceAddress{.key = "endpoint", .value = given, .file = given.substr(rtu.size())})
               : std::nullopt;
}

}  // namespace
}  // namespace modbus_driver

extern const DriverRow modbus_driver_row{.name = "modbus",
                                         .settings = modbus_driver::rows,
                                         .make = modbus_driver::make,
                                         .address = modbus_driver::address,
                                         .warn = add_modbus_warnings,
                                         .needs = modbus_driver::needs};

}  // namespace telegate
