#include "device/driver_row.hpp"
#include "metrics/metric_settings.hpp"
#include "udp/udp_driver.hpp"

#include <array>

namespace telegate {
namespace udp_driver {
namespace {

using U = UdpDriverOptions;

constexpr auto formats = enum_names<DatagramFormat>(
    {{"statsd", DatagramFormat::statsd}, {"influx", DatagramFormat::influx}, {"json", DatagramFormat::json}});
constexpr TextRule group_rule{.holds = Holds::listener,
                              .prefixes = {},
                              .allowed = "an address in 224.0.0.0/4 or ff00::/8, or empty",
                              .bytes_max = 64,
                              .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "listen", .rule = ListenRule{}, .applies = Applies::live,
               .meaning = "Address on which datagrams are received. With multicast_group, its port and the address of "
                          "the interface.",
               .slot = listen_of<&U::host, &U::port>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the lines of a datagram: StatsD with or without tags (statsd), InfluxDB line "
                          "protocol (influx), or JSON (json).",
               .slot = choice_of<formats, &U::format>},
    SettingRow{.section = "device", .key = "receive_buffer_bytes",
               .rule = WholeRule{.min = 4'096, .max = 268'435'456}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Size of the receive buffer that is requested from the kernel, which grants at most "
                          "net.core.rmem_max.",
               .slot = slot_of<&U::receive_buffer_bytes>},
    SettingRow{.section = "device", .key = "datagram_bytes_max",
               .rule = WholeRule{.min = 64, .max = 65'535}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum length of a datagram; longer datagrams are dropped and counted.",
               .slot = slot_of<&U::datagram_bytes_max>},
    SettingRow{.section = "device", .key = "multicast_group", .rule = group_rule, .applies = Applies::live,
               .meaning = "Multicast group to join, of the same address family as listen. Empty means none.",
               .slot = slot_of<&U::multicast_group>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 65'536},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of metric names; readings with additional names are dropped and counted.",
               .slot = slot_of<&U::channels_max>},
    SettingRow{.section = "device", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether samples carry the time in their line, if any, instead of the time of arrival.",
               .slot = slot_of<&U::rules, &MetricRules::use_time>},
    SettingRow{.section = "device", .key = "time_precision", .rule = ChoiceRule{time_precisions.names},
               .applies = Applies::live,
               .meaning = "influx and json: unit of a numeric time; auto detects it from the magnitude.",
               .slot = choice_of<time_precisions, &U::rules, &MetricRules::time_precision>},
    SettingRow{.section = "device", .key = "time_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member with the time, as a number or in ISO 8601.",
               .slot = slot_of<&U::rules, &MetricRules::time_member>},
    SettingRow{.section = "device", .key = "name_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member whose text is prepended to the names of the other members.",
               .slot = slot_of<&U::rules, &MetricRules::name_member>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    return make_udp_driver(part_of<UdpDriverOptions>(device.parts));
}

std::optional<DeviceAddress> address(const DeviceSettings& device) {
    DeviceSettings copy = device;  // the slots of the settings table need mutable settings
    const auto& from = part_of<UdpDriverOptions>(device.parts);
    return DeviceAddress{.key = "listen",
                         .value = value_text(rows.front(), &copy),
                         .host = from.host,
                         .port = from.port,
                         .is_shared = !from.multicast_group.empty()};
}

}  // namespace
}  // namespace udp_driver

extern const DriverRow udp_driver_row{
    .name = "udp", .settings = udp_driver::rows, .make = udp_driver::make, .address = udp_driver::address};

}  // namespace telegate
