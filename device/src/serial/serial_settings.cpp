#include "config/enum_names.hpp"
#include "device/driver_row.hpp"
#include "device/option_error.hpp"
#include "lines/line_settings.hpp"
#include "serial/serial_driver.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace serial_driver {
namespace {

/// The settings of a device with the driver serial.
struct SerialSettings {
    std::string port;
    std::int64_t baud = 9'600;
    std::int64_t data_bits = 8;
    std::string parity = "none";
    std::int64_t stop_bits = 1;
    std::string flow = "none";
    std::string format = "key_value";
    std::vector<std::string> columns;  // csv
    std::string delimiter = "comma";   // csv
    std::string pattern;               // regex
    bool checksum_required = false;    // nmea
    std::int64_t line_bytes_max = 1'024;
    std::int64_t channels_max = 256;
    bool skip_first_line = true;
    std::int64_t silence_ms = 10'000;     // 0: never
    std::string frame_start;              // frames, in hexadecimal digits
    std::int64_t frame_bytes = 0;         // frames
    std::string frame_checksum = "none";  // frames
};

/// The settings of a channel of such a device.
struct SerialChannelSettings {
    std::string frame_type = "none";  // none: not in a frame
    std::int64_t frame_offset = 0;
};

using S = SerialSettings;
using N = SerialChannelSettings;

using Port = SerialPortOptions;
using Parity = Port::Parity;
using Flow = Port::Flow;
using Kind = LineFormat::Kind;

constexpr auto parities = enum_names<Parity>({{"none", Parity::none}, {"even", Parity::even}, {"odd", Parity::odd}});
constexpr auto flows = enum_names<Flow>({{"none", Flow::none}, {"rtscts", Flow::rtscts}, {"xonxoff", Flow::xonxoff}});
constexpr auto formats = enum_names<std::optional<Kind>>({{"key_value", Kind::key_value},
                                                          {"csv", Kind::csv},
                                                          {"nmea", Kind::nmea},
                                                          {"regex", Kind::regex},
                                                          {"frames", std::nullopt}});
constexpr auto checksums = enum_names<FrameChecksum>({{"none", FrameChecksum::none},
                                                      {"sum8", FrameChecksum::sum8},
                                                      {"xor8", FrameChecksum::xor8},
                                                      {"crc16", FrameChecksum::crc16}});
constexpr auto types = enum_names(named_frame_numbers);
constexpr TextRule port_rule{.holds = Holds::path, .prefixes = {}, .allowed = "the path of a tty"};
constexpr TextRule start_rule{.holds = Holds::plain,
                              .prefixes = {},
                              .allowed = "pairs of hexadecimal digits, or empty",
                              .bytes_max = 32,
                              .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "port", .rule = port_rule, .applies = Applies::file,
               .required = true,
               .meaning = "Path of the tty, preferably a stable name such as one in /dev/serial/by-id.",
               .slot = driver_slot<&S::port>},
    SettingRow{.section = "device", .key = "baud", .rule = WholeRule{.min = 300, .max = 4'000'000},
               .applies = Applies::live,
               .meaning = "Bit rate of the port in bits per second, one of the standard rates.",
               .slot = driver_slot<&S::baud>},
    SettingRow{.section = "device", .key = "data_bits", .rule = WholeRule{.min = 5, .max = 8},
               .applies = Applies::live, .meaning = "Data bits per character.", .slot = driver_slot<&S::data_bits>},
    SettingRow{.section = "device", .key = "parity", .rule = ChoiceRule{parities.names},
               .applies = Applies::live, .meaning = "Parity bit of each character.",
               .slot = driver_slot<&S::parity>},
    SettingRow{.section = "device", .key = "stop_bits", .rule = WholeRule{.min = 1, .max = 2},
               .applies = Applies::live, .meaning = "Stop bits per character.",
               .slot = driver_slot<&S::stop_bits>},
    SettingRow{.section = "device", .key = "flow", .rule = ChoiceRule{flows.names},
               .applies = Applies::live, .meaning = "Flow control: how the device is prevented from sending too fast.",
               .slot = driver_slot<&S::flow>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the input: NAME=VALUE pairs, columns, NMEA 0183 sentences, lines that match a "
                          "pattern, or frames of a fixed length.",
               .slot = driver_slot<&S::format>},
    SettingRow{.section = "device", .key = "columns", .rule = line_columns, .applies = Applies::live,
               .meaning = "csv: names of the columns from the left, optionally with a unit as in NAME[UNIT]; - skips "
                          "a column.",
               .slot = driver_slot<&S::columns>},
    SettingRow{.section = "device", .key = "delimiter", .rule = ChoiceRule{line_delimiters.names},
               .applies = Applies::live, .meaning = "csv: separator of the columns.",
               .slot = driver_slot<&S::delimiter>},
    SettingRow{.section = "device", .key = "pattern", .rule = line_pattern, .applies = Applies::live,
               .meaning = "regex: RE2 expression whose named groups, (?P<name>...), become channels.",
               .slot = driver_slot<&S::pattern>},
    SettingRow{.section = "device", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "nmea: whether sentences without a checksum are refused.",
               .slot = driver_slot<&S::checksum_required>},
    SettingRow{.section = "device", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum length of a line; longer lines are dropped and counted.",
               .slot = driver_slot<&S::line_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of field names; fields with additional names are dropped and counted.",
               .slot = driver_slot<&S::channels_max>},
    SettingRow{.section = "device", .key = "skip_first_line", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether input before the first line end is dropped, because it may be the rest of a line.",
               .slot = driver_slot<&S::skip_first_line>},
    SettingRow{.section = "device", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "Time without a valid line or frame after which the reading fails. 0 means never.",
               .slot = driver_slot<&S::silence_ms>},
    SettingRow{.section = "device", .key = "frame_start", .rule = start_rule, .applies = Applies::live,
               .meaning = "frames: the 1 to 8 bytes at the start of each frame, in hexadecimal digits.",
               .slot = driver_slot<&S::frame_start>},
    SettingRow{.section = "device", .key = "frame_bytes",
               .rule = WholeRule{.min = 0, .max = 1'024}, .unit = "bytes", .applies = Applies::live,
               .meaning = "frames: length of a frame, including start and checksum.",
               .slot = driver_slot<&S::frame_bytes>},
    SettingRow{.section = "device", .key = "frame_checksum", .rule = ChoiceRule{checksums.names},
               .applies = Applies::live,
               .meaning = "frames: checksum at the end of a frame: the sum of all bytes before it (sum8), their "
                          "exclusive or (xor8), or the CRC-16 of Modbus (crc16).",
               .slot = driver_slot<&S::frame_checksum>},
    SettingRow{.section = "channel", .key = "frame_type", .rule = ChoiceRule{types.names},
               .applies = Applies::live,
               .meaning = "frames: type of the channel's number in a frame, with the high byte first (be) or last "
                          "(le).",
               .slot = driver_slot<&N::frame_type>},
    SettingRow{.section = "channel", .key = "frame_offset",
               .rule = WholeRule{.min = 0, .max = 1'023}, .unit = "bytes", .applies = Applies::live,
               .meaning = "frames: position of the number, counted from the first byte of the frame, which is 0.",
               .slot = driver_slot<&N::frame_offset>},
};
// clang-format on

Port to_port(const SerialSettings& from) {
    Port port;
    port.path = from.port;
    port.baud = from.baud;
    port.data_bits = from.data_bits;
    port.parity = parities.value(from.parity);
    port.stop_bits = from.stop_bits;
    port.flow = flows.value(from.flow);
    return port;
}

LineFormat to_lines(Kind kind, const SerialSettings& from, DeviceChannels channels) {
    for (const ChannelSettings* const channel : channels) {
        refuse_given(*channel, "serial", {"frame_type", "frame_offset"},
                     "has no effect with format = " + from.format + "; requires format = frames");
    }
    return to_line_format(kind, from);
}

FrameFormat to_frames(const SerialSettings& from, DeviceChannels channels) {
    auto start = to_frame_start(from.frame_start);
    if (!start) {
        throw OptionError("frame_start",
                          "invalid value: \"" + from.frame_start + "\"; must be pairs of hexadecimal digits");
    }
    FrameFormat format;
    format.start = std::move(*start);
    format.frame_bytes = static_cast<std::size_t>(from.frame_bytes);
    format.checksum = checksums.value(from.frame_checksum);
    for (const ChannelSettings* const channel : channels) {
        const auto& said = part_of<SerialChannelSettings>(channel->driver_settings);
        if (const auto number = to_frame_number(said.frame_type)) {
            format.channels.push_back(
                {std::string(channel->channel()), channel->unit, static_cast<std::size_t>(said.frame_offset), *number});
        } else {
            refuse_given(*channel, "serial", {"frame_offset"}, "has no effect without a frame_type: set frame_type");
        }
    }
    return format;
}

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels channels) {
    const SerialSettings& from = part_of<SerialSettings>(device.driver_settings);
    SerialDriverOptions options;
    options.port = to_port(from);
    if (const auto kind = formats.value(from.format)) {
        options.format = to_lines(*kind, from, channels);
    } else {
        options.format = to_frames(from, channels);
    }
    options.limits.line_bytes_max = static_cast<std::size_t>(from.line_bytes_max);
    options.limits.channels_max = static_cast<std::size_t>(from.channels_max);
    options.skip_first_line = from.skip_first_line;
    options.silence_max = std::chrono::milliseconds(from.silence_ms);
    return make_serial_driver(options);
}

std::optional<DeviceAddress> address(const DeviceSettings& device) {
    const std::string& port = part_of<SerialSettings>(device.driver_settings).port;
    return port.empty() ? std::nullopt : std::optional(DeviceAddress{.key = "port", .value = port, .file = port});
}

std::string_view needs(const DeviceSettings& device) {
    const bool has_frames = !formats.value(part_of<SerialSettings>(device.driver_settings).format);
    return has_frames ? "a channel in a frame needs a frame_type" : "";
}

}  // namespace
}  // namespace serial_driver

extern const DriverRow serial_driver_row{.name = "serial",
                                         .settings = serial_driver::rows,
                                         .make = serial_driver::make,
                                         .address = serial_driver::address,
                                         .needs = serial_driver::needs};

}  // namespace telegate
