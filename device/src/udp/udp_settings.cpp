#include "config/enum_names.hpp"
#include "device/driver_row.hpp"
#include "metrics/metric_settings.hpp"
#include "udp/udp_driver.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace telegate {
namespace udp_driver {
namespace {

/// The settings of a device with the driver udp.
struct UdpSettings {
    std::string listen_host = "127.0.0.1";
    std::int64_t listen_port = 8'125;
    std::string format = "statsd";
    std::int64_t receive_buffer_bytes = 1'048'576;
    std::int64_t datagram_bytes_max = 8'192;
    std::string multicast_group;  // "": none
    std::int64_t channels_max = 1'000;
    bool use_time = false;
    std::string time_precision = "auto";
    std::string time_member;  // json; "": none
    std::string name_member;  // json; "": none
};

using U = UdpSettings;

constexpr auto formats = enum_names<DatagramFormat>(
    {{"statsd", DatagramFormat::statsd}, {"influx", DatagramFormat::influx}, {"json", DatagramFormat::json}});
constexpr TextRule group_rule{.holds = Holds::listener,
                              .prefixes = {},
                              .allowed = "an address in 224.0.0.0/4 or ff00::/8, or empty",
                              .bytes_max = 64,
                              .may_be_empty = true};

SettingSlot listen_slot(const SettingOwner& owner) {
    auto& udp = part_of<UdpSettings>(std::get<DeviceSettings*>(owner)->driver_settings);
    return ListenSlot{&udp.listen_host, &udp.listen_port};
}

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "listen", .rule = ListenRule{}, .applies = Applies::live,
               .meaning = "Address on which datagrams are received. With multicast_group, its port and the address of "
                          "the interface.",
               .slot = listen_slot},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the lines of a datagram: StatsD with or without tags (statsd), InfluxDB line "
                          "protocol (influx), or JSON (json).",
               .slot = driver_slot<&U::format>},
    SettingRow{.section = "device", .key = "receive_buffer_bytes",
               .rule = WholeRule{.min = 4'096, .max = 268'435'456}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Size of the receive buffer that is requested from the kernel, which grants at most "
                          "net.core.rmem_max.",
               .slot = driver_slot<&U::receive_buffer_bytes>},
    SettingRow{.section = "device", .key = "datagram_bytes_max",
               .rule = WholeRule{.min = 64, .max = 65'535}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum length of a datagram; longer datagrams are dropped and counted.",
               .slot = driver_slot<&U::datagram_bytes_max>},
    SettingRow{.section = "device", .key = "multicast_group", .rule = group_rule, .applies = Applies::live,
               .meaning = "Multicast group to join, of the same address family as listen. Empty means none.",
               .slot = driver_slot<&U::multicast_group>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 65'536},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of metric names; readings with additional names are dropped and counted.",
               .slot = driver_slot<&U::channels_max>},
    SettingRow{.section = "device", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether samples carry the time in their line, if any, instead of the time of arrival.",
               .slot = driver_slot<&U::use_time>},
    SettingRow{.section = "device", .key = "time_precision", .rule = ChoiceRule{time_precisions.names},
               .applies = Applies::live,
               .meaning = "influx and json: unit of a numeric time; auto detects it from the magnitude.",
               .slot = driver_slot<&U::time_precision>},
    SettingRow{.section = "device", .key = "time_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member with the time, as a number or in ISO 8601.",
               .slot = driver_slot<&U::time_member>},
    SettingRow{.section = "device", .key = "name_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member whose text is prepended to the names of the other members.",
               .slot = driver_slot<&U::name_member>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const UdpSettings& from = part_of<UdpSettings>(device.driver_settings);
    UdpDriverOptions options;
    options.host = from.listen_host;
    options.port = static_cast<std::uint16_t>(from.listen_port);
    options.format = formats.value(from.format);
    options.receive_buffer_bytes = static_cast<std::size_t>(from.receive_buffer_bytes);
    options.datagram_bytes_max = static_cast<std::size_t>(from.datagram_bytes_max);
    options.multicast_group = from.multicast_group;
    options.channels_max = static_cast<std::size_t>(from.channels_max);
    options.rules = to_metric_rules(from);
    return make_udp_driver(std::move(options));
}

std::optional<DeviceAddress> address(const DeviceSettings& device) {
    DeviceSettings copy = device;  // the slots of the settings table need mutable settings
    const auto& from = part_of<UdpSettings>(device.driver_settings);
    return DeviceAddress{.key = "listen",
                         .value = value_text(rows.front(), &copy),
                         .host = from.listen_host,
                         .port = static_cast<std::uint16_t>(from.listen_port),
                         .is_shared = !from.multicast_group.empty()};
}

}  // namespace
}  // namespace udp_driver

extern const DriverRow udp_driver_row{
    .name = "udp", .settings = udp_driver::rows, .make = udp_driver::make, .address = udp_driver::address};

}  // namespace telegate
