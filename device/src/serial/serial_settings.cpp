#include "device/common_settings.hpp"
#include "device/driver_row.hpp"
#include "device/option_error.hpp"
#include "lines/line_settings.hpp"
#include "serial/serial_driver.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace serial_driver {
namespace {

struct SerialSettings {
    SerialDriverOptions options = {};
    std::optional<LineFormat::Kind> format = LineFormat::Kind::key_value;  // nullopt: frames
    LineFormat lines = {};
    FrameFormat frames = {};
    std::string frame_start = {};  // in hexadecimal digits
};

/// The settings of a channel of such a device.
struct SerialChannelSettings {
    std::optional<FrameNumber> frame_type = {};  // nullopt: not in a frame
    std::size_t frame_offset = 0;
};

using S = SerialSettings;
using N = SerialChannelSettings;
using O = SerialDriverOptions;

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
               .slot = slot_of<&S::options, &O::port, &Port::path>},
    SettingRow{.section = "device", .key = "baud", .rule = WholeRule{.min = 300, .max = 4'000'000},
               .applies = Applies::live,
               .meaning = "Bit rate of the port in bits per second, one of the standard rates.",
               .slot = slot_of<&S::options, &O::port, &Port::baud>},
    SettingRow{.section = "device", .key = "data_bits", .rule = WholeRule{.min = 5, .max = 8},
               .applies = Applies::live, .meaning = "Data bits per character.",
               .slot = slot_of<&S::options, &O::port, &Port::data_bits>},
    SettingRow{.section = "device", .key = "parity", .rule = ChoiceRule{parities.names},
               .applies = Applies::live, .meaning = "Parity bit of each character.",
               .slot = choice_of<parities, &S::options, &O::port, &Port::parity>},
    SettingRow{.section = "device", .key = "stop_bits", .rule = WholeRule{.min = 1, .max = 2},
               .applies = Applies::live, .meaning = "Stop bits per character.",
               .slot = slot_of<&S::options, &O::port, &Port::stop_bits>},
    SettingRow{.section = "device", .key = "flow", .rule = ChoiceRule{flows.names},
               .applies = Applies::live, .meaning = "Flow control: how the device is prevented from sending too fast.",
               .slot = choice_of<flows, &S::options, &O::port, &Port::flow>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the input: NAME=VALUE pairs, columns, NMEA 0183 sentences, lines that match a "
                          "pattern, or frames of a fixed length.",
               .slot = choice_of<formats, &S::format>},
    SettingRow{.section = "device", .key = "columns", .rule = line_columns, .applies = Applies::live,
               .meaning = "csv: names of the columns from the left, optionally with a unit as in NAME[UNIT]; - skips "
                          "a column.",
               .slot = slot_of<&S::lines, &LineFormat::columns>},
    SettingRow{.section = "device", .key = "delimiter", .rule = ChoiceRule{line_delimiters.names},
               .applies = Applies::live, .meaning = "csv: separator of the columns.",
               .slot = choice_of<line_delimiters, &S::lines, &LineFormat::delimiter>},
    SettingRow{.section = "device", .key = "pattern", .rule = line_pattern, .applies = Applies::live,
               .meaning = "regex: RE2 expression whose named groups, (?P<name>...), become channels.",
               .slot = slot_of<&S::lines, &LineFormat::pattern>},
    SettingRow{.section = "device", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "nmea: whether sentences without a checksum are refused.",
               .slot = slot_of<&S::lines, &LineFormat::checksum_required>},
    SettingRow{.section = "device", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum length of a line; longer lines are dropped and counted.",
               .slot = slot_of<&S::options, &O::limits, &LineLimits::line_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of field names; fields with additional names are dropped and counted.",
               .slot = slot_of<&S::options, &O::limits, &LineLimits::channels_max>},
    SettingRow{.section = "device", .key = "skip_first_line", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether input before the first line end is dropped, because it may be the rest of a line.",
               .slot = slot_of<&S::options, &O::skip_first_line>},
    SettingRow{.section = "device", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "Time without a valid line or frame after which the reading fails. 0 means never.",
               .slot = slot_of<&S::options, &O::silence_max>},
    SettingRow{.section = "device", .key = "frame_start", .rule = start_rule, .applies = Applies::live,
               .meaning = "frames: the 1 to 8 bytes at the start of each frame, in hexadecimal digits.",
               .slot = slot_of<&S::frame_start>},
    SettingRow{.section = "device", .key = "frame_bytes",
               .rule = WholeRule{.min = 0, .max = 1'024}, .unit = "bytes", .applies = Applies::live,
               .meaning = "frames: length of a frame, including start and checksum.",
               .slot = slot_of<&S::frames, &FrameFormat::frame_bytes>},
    SettingRow{.section = "device", .key = "frame_checksum", .rule = ChoiceRule{checksums.names},
               .applies = Applies::live,
               .meaning = "frames: checksum at the end of a frame: the sum of all bytes before it (sum8), their "
                          "exclusive or (xor8), or the CRC-16 of Modbus (crc16).",
               .slot = choice_of<checksums, &S::frames, &FrameFormat::checksum>},
    SettingRow{.section = "channel", .key = "frame_type", .rule = ChoiceRule{types.names},
               .applies = Applies::live,
               .meaning = "frames: type of the channel's number in a frame, with the high byte first (be) or last "
                          "(le).",
               .slot = choice_of<types, &N::frame_type>},
    SettingRow{.section = "channel", .key = "frame_offset",
               .rule = WholeRule{.min = 0, .max = 1'023}, .unit = "bytes", .applies = Applies::live,
               .meaning = "frames: position of the number, counted from the first byte of the frame, which is 0.",
               .slot = slot_of<&N::frame_offset>},
};
// clang-format on

void refuse_frames(std::string_view format, DeviceChannels channels) {
    for (const ChannelSettings* const channel : channels) {
        refuse_given(*channel, "serial", {"frame_type", "frame_offset"},
                     "has no effect with format = " + std::string(format) + "; requires format = frames");
    }
}

FrameFormat to_frames(const SerialSettings& from, DeviceChannels channels) {
    auto start = to_frame_start(from.frame_start);
    if (!start) {
        throw OptionError("frame_start",
                          "invalid value: \"" + from.frame_start + "\"; must be pairs of hexadecimal digits");
    }
    FrameFormat format = from.frames;
    format.start = std::move(*start);
    for (const ChannelSettings* const channel : channels) {
        const auto& given = part_of<SerialChannelSettings>(channel->parts);
        if (given.frame_type) {
            format.channels.push_back(
                {std::string(channel->channel()), processing_of(*channel).unit, given.frame_offset, *given.frame_type});
        } else {
            refuse_given(*channel, "serial", {"frame_offset"}, "has no effect without a frame_type: set frame_type");
        }
    }
    return format;
}

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels channels) {
    SerialSettings from = part_of<SerialSettings>(device.parts);
    if (from.format) {
        refuse_frames(formats.name(from.format), channels);
        from.lines.kind = *from.format;
        from.options.format = std::move(from.lines);
    } else {
        from.options.format = to_frames(from, channels);
    }
    return make_serial_driver(from.options);
}

std::optional<DeviceAddress> address(const DeviceSettings& device) {
    const std::string& port = part_of<SerialSettings>(device.parts).options.port.path;
    return port.empty() ? std::nullopt : std::optional(DeviceAddress{.key = "port", .value = port, .file = port});
}

std::string_view needs(const DeviceSettings& device) {
    const bool has_frames = !part_of<SerialSettings>(device.parts).format;
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
