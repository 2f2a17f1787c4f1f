#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace serial_section {

using D = DeviceSettings;
using C = ChannelSettings;
using S = SerialSettings;
using N = SerialChannelSettings;

constexpr std::array<std::string_view, 3> parities{"none", "even", "odd"};
constexpr std::array<std::string_view, 3> flows{"none", "rtscts", "xonxoff"};
constexpr std::array<std::string_view, 5> formats{"key_value", "csv", "nmea", "regex", "frames"};
constexpr std::array<std::string_view, 6> delimiters{"comma", "semicolon", "tab", "blank", "bar", "colon"};
constexpr std::array<std::string_view, 4> checksums{"none", "sum8", "xor8", "crc16"};
constexpr std::array<std::string_view, 19> types{"none",       "int8",       "uint8",      "int16_be",  "int16_le",
                                                 "uint16_be",  "uint16_le",  "int32_be",   "int32_le",  "uint32_be",
                                                 "uint32_le",  "int64_be",   "int64_le",   "uint64_be", "uint64_le",
                                                 "float32_be", "float32_le", "float64_be", "float64_le"};
// A name of a channel and a unit.
constexpr TextListRule columns{
    .allowed = "NAME, NAME[UNIT] or -", .bytes_max = 128, .count_max = 256, .may_repeat = true};
constexpr TextRule port{.prefixes = {}, .allowed = "the path of a tty"};
constexpr TextRule pattern{
    .prefixes = {}, .allowed = "a regular expression, or nothing", .bytes_max = 1'024, .may_be_empty = true};
constexpr TextRule start{
    .prefixes = {}, .allowed = "pairs of hexadecimal digits, or nothing", .bytes_max = 32, .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "serial", .key = "port", .rule = port, .applies = Applies::file,
               .required = true,
               .meaning = "The tty; best by a name that stays the same, such as one in /dev/serial/by-id.",
               .slot = slot<&D::serial, &S::port>},
    SettingRow{.section = "device", .driver = "serial", .key = "baud", .rule = WholeRule{.min = 300, .max = 4'000'000},
               .applies = Applies::live,
               .meaning = "Rate of the port in bits per second, one of the usual ones.",
               .slot = slot<&D::serial, &S::baud>},
    SettingRow{.section = "device", .driver = "serial", .key = "data_bits", .rule = WholeRule{.min = 5, .max = 8},
               .applies = Applies::live, .meaning = "Bits of a character.", .slot = slot<&D::serial, &S::data_bits>},
    SettingRow{.section = "device", .driver = "serial", .key = "parity", .rule = ChoiceRule{parities},
               .applies = Applies::live, .meaning = "Bit that makes the number of ones even or odd.",
               .slot = slot<&D::serial, &S::parity>},
    SettingRow{.section = "device", .driver = "serial", .key = "stop_bits", .rule = WholeRule{.min = 1, .max = 2},
               .applies = Applies::live, .meaning = "Bits that end a character.",
               .slot = slot<&D::serial, &S::stop_bits>},
    SettingRow{.section = "device", .driver = "serial", .key = "flow", .rule = ChoiceRule{flows},
               .applies = Applies::live, .meaning = "How the device is kept from sending too fast.",
               .slot = slot<&D::serial, &S::flow>},
    SettingRow{.section = "device", .driver = "serial", .key = "format", .rule = ChoiceRule{formats},
               .applies = Applies::live,
               .meaning = "What the device sends: lines of NAME=VALUE, of columns, of NMEA 0183 or any that a pattern "
                          "is for; or frames of a fixed length.",
               .slot = slot<&D::serial, &S::format>},
    SettingRow{.section = "device", .driver = "serial", .key = "columns", .rule = columns, .applies = Applies::live,
               .meaning = "For csv: names of the columns from the left, each with its unit in brackets if it has one; "
                          "- skips a column.",
               .slot = slot<&D::serial, &S::columns>},
    SettingRow{.section = "device", .driver = "serial", .key = "delimiter", .rule = ChoiceRule{delimiters},
               .applies = Applies::live, .meaning = "For csv: what is between two columns.",
               .slot = slot<&D::serial, &S::delimiter>},
    SettingRow{.section = "device", .driver = "serial", .key = "pattern", .rule = pattern, .applies = Applies::live,
               .meaning = "For regex: an expression in the syntax of RE2, whose named groups, (?P<name>...), become "
                          "channels.",
               .slot = slot<&D::serial, &S::pattern>},
    SettingRow{.section = "device", .driver = "serial", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "For nmea: whether a sentence without a checksum is refused.",
               .slot = slot<&D::serial, &S::checksum_required>},
    SettingRow{.section = "device", .driver = "serial", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Length of a line at most; a longer one is dropped and counted.",
               .slot = slot<&D::serial, &S::line_bytes_max>},
    SettingRow{.section = "device", .driver = "serial", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Names of fields in its lines at most; a field of another name is dropped and counted.",
               .slot = slot<&D::serial, &S::channels_max>},
    SettingRow{.section = "device", .driver = "serial", .key = "skip_first_line", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether what comes before the first line end is dropped, since it may be the rest of a line.",
               .slot = slot<&D::serial, &S::skip_first_line>},
    SettingRow{.section = "device", .driver = "serial", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "Time without a good line or frame after which reading has failed; 0 means never.",
               .slot = slot<&D::serial, &S::silence_ms>},
    SettingRow{.section = "device", .driver = "serial", .key = "frame_start", .rule = start, .applies = Applies::live,
               .meaning = "For frames: the 1 to 8 bytes that each begins with, in hexadecimal digits.",
               .slot = slot<&D::serial, &S::frame_start>},
    SettingRow{.section = "device", .driver = "serial", .key = "frame_bytes",
               .rule = WholeRule{.min = 0, .max = 1'024}, .unit = "bytes", .applies = Applies::live,
               .meaning = "For frames: length of one, with start and checksum.",
               .slot = slot<&D::serial, &S::frame_bytes>},
    SettingRow{.section = "device", .driver = "serial", .key = "frame_checksum", .rule = ChoiceRule{checksums},
               .applies = Applies::live,
               .meaning = "For frames: what ends one; the sum of all bytes before it, their exclusive or, or the CRC-16 "
                          "of Modbus.",
               .slot = slot<&D::serial, &S::frame_checksum>},
    SettingRow{.section = "channel", .driver = "serial", .key = "frame_type", .rule = ChoiceRule{types},
               .applies = Applies::live,
               .meaning = "For frames: the number of that name in a frame, high byte first (be) or last (le).",
               .slot = slot<&C::serial, &N::frame_type>},
    SettingRow{.section = "channel", .driver = "serial", .key = "frame_offset",
               .rule = WholeRule{.min = 0, .max = 1'023}, .unit = "bytes", .applies = Applies::live,
               .meaning = "For frames: where it begins, counted from the first byte of the frame, which is 0.",
               .slot = slot<&C::serial, &N::frame_offset>},
};
// clang-format on

}  // namespace serial_section

std::span<const SettingRow> serial_rows() noexcept {
    return serial_section::rows;
}

}  // namespace telegate
