#include "device/option_error.hpp"
#include "device/serial_driver.hpp"
#include "plan/drivers.hpp"
#include "plan/line_format_plan.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

using Port = SerialPortOptions;

Port to_port(const SerialSettings& from) {
    Port port;
    port.path = from.port;
    port.baud = from.baud;
    port.data_bits = from.data_bits;
    port.parity = from.parity == "even"  ? Port::Parity::even
                  : from.parity == "odd" ? Port::Parity::odd
                                         : Port::Parity::none;
    port.stop_bits = from.stop_bits;
    port.flow = from.flow == "rtscts"    ? Port::Flow::rtscts
                : from.flow == "xonxoff" ? Port::Flow::xonxoff
                                         : Port::Flow::none;
    return port;
}

LineFormat to_lines(const SerialSettings& from, DeviceChannels channels) {
    for (const ChannelSettings* const channel : channels) {
        refuse_given(*channel, "serial", {"frame_type", "frame_offset"},
                     "where format is " + from.format + ", allowed: only with format = frames");
    }
    return to_line_format(from);
}

FrameFormat to_frames(const SerialSettings& from, DeviceChannels channels) {
    auto start = to_frame_start(from.frame_start);
    if (!start) {
        throw OptionError("frame_start", '"' + from.frame_start + "\", allowed: pairs of hexadecimal digits");
    }
    FrameFormat format;
    format.start = std::move(*start);
    format.frame_bytes = static_cast<std::size_t>(from.frame_bytes);
    format.checksum = from.frame_checksum == "sum8"    ? FrameChecksum::sum8
                      : from.frame_checksum == "xor8"  ? FrameChecksum::xor8
                      : from.frame_checksum == "crc16" ? FrameChecksum::crc16
                                                       : FrameChecksum::none;
    for (const ChannelSettings* const channel : channels) {
        if (const auto number = to_frame_number(channel->serial.frame_type)) {
            format.channels.push_back({std::string(channel->channel()), channel->unit,
                                       static_cast<std::size_t>(channel->serial.frame_offset), *number});
        } else {
            refuse_given(*channel, "serial", {"frame_offset"}, "without a frame_type, allowed: only with frame_type");
        }
    }
    return format;
}

}  // namespace

std::unique_ptr<Driver> make_serial(const DeviceSettings& device, DeviceChannels channels) {
    const SerialSettings& from = device.serial;
    SerialDriverOptions options;
    options.port = to_port(from);
    if (from.format == "frames") {
        options.format = to_frames(from, channels);
    } else {
        options.format = to_lines(from, channels);
    }
    options.limits.line_bytes_max = static_cast<std::size_t>(from.line_bytes_max);
    options.limits.channels_max = static_cast<std::size_t>(from.channels_max);
    options.skip_first_line = from.skip_first_line;
    options.silence_max = std::chrono::milliseconds(from.silence_ms);
    return make_serial_driver(options);
}

}  // namespace telegate
