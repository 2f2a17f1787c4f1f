#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace modbus_section {

using D = DeviceSettings;
using C = ChannelSettings;
using S = ModbusSettings;
using N = ModbusChannelSettings;

constexpr std::array<std::string_view, 3> parities{"none", "even", "odd"};
constexpr std::array<std::string_view, 4> tables{"holding", "input", "coil", "discrete"};
constexpr std::array<std::string_view, 10> types{"auto",   "bool",  "int16",  "uint16",  "int32",
                                                 "uint32", "int64", "uint64", "float32", "float64"};
constexpr std::array<std::string_view, 2> orders{"big", "little"};
constexpr std::array<std::string_view, 2> schemes{"tcp://", "rtu://"};
constexpr TextRule endpoint{.prefixes = schemes, .allowed = "tcp://HOST:PORT or rtu:///PATH", .path_prefix = "rtu://"};
constexpr TextRule registers{.prefixes = {}, .allowed = "the path of a CSV file, or nothing", .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "modbus", .key = "endpoint", .rule = endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Where the units are: a host and a port, 502 if there is none, or a serial line, best by a "
                          "name that stays the same, such as one in /dev/serial/by-id.",
               .slot = slot<&D::modbus, &S::endpoint>},
    SettingRow{.section = "device", .driver = "modbus", .key = "registers", .rule = registers,
               .applies = Applies::file, .names_channels = true,
               .meaning = "CSV file with a row for each channel, relative to the folder of the settings file. Its first "
                          "line names the columns: name and keys of a channel, where order is word_order. Nothing "
                          "means none.",
               .slot = slot<&D::modbus, &S::registers>},
    SettingRow{.section = "device", .driver = "modbus", .key = "unit_id", .rule = WholeRule{.min = 0, .max = 255},
               .applies = Applies::live,
               .meaning = "Unit of the channels that name none; 1 to 247 on a serial line.",
               .slot = slot<&D::modbus, &S::unit_id>},
    SettingRow{.section = "device", .driver = "modbus", .key = "timeout_ms", .rule = WholeRule{.min = 10, .max = 10'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "How long a connection and each answer is waited for.",
               .slot = slot<&D::modbus, &S::timeout_ms>},
    SettingRow{.section = "device", .driver = "modbus", .key = "read_gap_max", .rule = WholeRule{.min = 0, .max = 124},
               .unit = "registers", .applies = Applies::live,
               .meaning = "Registers between two channels that are read for nothing, so that one request serves both.",
               .slot = slot<&D::modbus, &S::read_gap_max>},
    SettingRow{.section = "device", .driver = "modbus", .key = "registers_max", .rule = WholeRule{.min = 1, .max = 125},
               .unit = "registers", .applies = Applies::live,
               .meaning = "Registers that one request asks for at most.", .slot = slot<&D::modbus, &S::registers_max>},
    SettingRow{.section = "device", .driver = "modbus", .key = "baud", .rule = WholeRule{.min = 300, .max = 1'152'000},
               .applies = Applies::live,
               .meaning = "Rate of the serial line in bits per second, one of the usual ones.",
               .slot = slot<&D::modbus, &S::baud>},
    SettingRow{.section = "device", .driver = "modbus", .key = "parity", .rule = ChoiceRule{parities},
               .applies = Applies::live, .meaning = "Parity of the serial line.",
               .slot = slot<&D::modbus, &S::parity>},
    SettingRow{.section = "device", .driver = "modbus", .key = "data_bits", .rule = WholeRule{.min = 7, .max = 8},
               .applies = Applies::live,
               .meaning = "Bits of a character on the serial line; this protocol has no other than 8.",
               .slot = slot<&D::modbus, &S::data_bits>},
    SettingRow{.section = "device", .driver = "modbus", .key = "stop_bits", .rule = WholeRule{.min = 1, .max = 2},
               .applies = Applies::live, .meaning = "Bits that end a character on the serial line.",
               .slot = slot<&D::modbus, &S::stop_bits>},
    SettingRow{.section = "device", .driver = "modbus", .key = "pause_ms", .rule = WholeRule{.min = 0, .max = 1'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Silence on the serial line before each request, where 3.5 characters are too few.",
               .slot = slot<&D::modbus, &S::pause_ms>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "unit_id", .rule = WholeRule{.min = 0, .max = 255},
               .applies = Applies::live, .unset = "that of the device",
               .meaning = "Unit that has the value.", .slot = slot<&C::modbus, &N::unit_id>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "table", .rule = ChoiceRule{tables},
               .applies = Applies::live, .meaning = "Table that has the value: registers (holding, input) or bits.",
               .slot = slot<&C::modbus, &N::table>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "address", .rule = WholeRule{.min = 0, .max = 65'535},
               .applies = Applies::live, .unset = "nothing is read",
               .meaning = "Where it begins, as it goes over the wire: the first register of a table is 0.",
               .slot = slot<&C::modbus, &N::address>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "type", .rule = ChoiceRule{types},
               .applies = Applies::live,
               .meaning = "What it is; auto means bool for a bit and uint16 for a register.",
               .slot = slot<&C::modbus, &N::type>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "word_order", .rule = ChoiceRule{orders},
               .applies = Applies::live, .column = "order",
               .meaning = "Of a value of several registers: whether the high one comes first (big) or the low one.",
               .slot = slot<&C::modbus, &N::word_order>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "byte_swap", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "Whether the low byte of a register comes first.",
               .slot = slot<&C::modbus, &N::byte_swap>},
    SettingRow{.section = "channel", .driver = "modbus", .key = "bit", .rule = WholeRule{.min = 0, .max = 15},
               .applies = Applies::live, .unset = "the whole register",
               .meaning = "One bit of the register, where 0 is the lowest.", .slot = slot<&C::modbus, &N::bit>},
};
// clang-format on

}  // namespace modbus_section

std::span<const SettingRow> modbus_rows() noexcept {
    return modbus_section::rows;
}

}  // namespace telegate
