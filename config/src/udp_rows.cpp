#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace udp_section {

using D = DeviceSettings;
using U = UdpSettings;

constexpr std::array<std::string_view, 3> formats{"statsd", "influx", "json"};
constexpr std::array<std::string_view, 5> precisions{"auto", "ns", "us", "ms", "s"};
constexpr TextRule group{.prefixes = {},
                         .allowed = "an address in 224.0.0.0/4 or ff00::/8, or nothing",
                         .bytes_max = 64,
                         .may_be_empty = true};
constexpr TextRule member{
    .prefixes = {}, .allowed = "the name of a member, or nothing", .bytes_max = 64, .may_be_empty = true};

SettingSlot listen_slot(const SettingOwner& owner) {
    UdpSettings& udp = std::get<DeviceSettings*>(owner)->udp;
    return ListenSlot{&udp.listen_host, &udp.listen_port};
}

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "udp", .key = "listen", .rule = ListenRule{}, .applies = Applies::live,
               .meaning = "Where datagrams are received; with multicast_group its port, and the address of the "
                          "interface.",
               .slot = listen_slot},
    SettingRow{.section = "device", .driver = "udp", .key = "format", .rule = ChoiceRule{formats},
               .applies = Applies::live,
               .meaning = "What the lines of a datagram are: StatsD with or without tags, Influx line protocol, or "
                          "JSON.",
               .slot = slot<&D::udp, &U::format>},
    SettingRow{.section = "device", .driver = "udp", .key = "receive_buffer_bytes",
               .rule = WholeRule{.min = 4'096, .max = 268'435'456}, .unit = "bytes", .applies = Applies::live,
               .meaning = "What the kernel is asked to keep for the gateway; it gives net.core.rmem_max at most.",
               .slot = slot<&D::udp, &U::receive_buffer_bytes>},
    SettingRow{.section = "device", .driver = "udp", .key = "datagram_bytes_max",
               .rule = WholeRule{.min = 64, .max = 65'535}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Length of a datagram at most; a longer one is dropped whole and counted.",
               .slot = slot<&D::udp, &U::datagram_bytes_max>},
    SettingRow{.section = "device", .driver = "udp", .key = "multicast_group", .rule = group, .applies = Applies::live,
               .meaning = "Group to join, of the same family as listen; empty means none.",
               .slot = slot<&D::udp, &U::multicast_group>},
    SettingRow{.section = "device", .driver = "udp", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 65'536},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Names of metrics at most; a reading of another name is dropped and counted.",
               .slot = slot<&D::udp, &U::channels_max>},
    SettingRow{.section = "device", .driver = "udp", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether a sample carries the time that its line gives, where it does, and not that of its "
                          "arrival.",
               .slot = slot<&D::udp, &U::use_time>},
    SettingRow{.section = "device", .driver = "udp", .key = "time_precision", .rule = ChoiceRule{precisions},
               .applies = Applies::live,
               .meaning = "For influx and json: what a number that is a time counts; auto tells it by its size.",
               .slot = slot<&D::udp, &U::time_precision>},
    SettingRow{.section = "device", .driver = "udp", .key = "time_member", .rule = member, .applies = Applies::live,
               .meaning = "For json: the outermost member that is the time, as a number or in ISO 8601.",
               .slot = slot<&D::udp, &U::time_member>},
    SettingRow{.section = "device", .driver = "udp", .key = "name_member", .rule = member, .applies = Applies::live,
               .meaning = "For json: the outermost member whose text comes before the names of the others.",
               .slot = slot<&D::udp, &U::name_member>},
};
// clang-format on

}  // namespace udp_section

std::span<const SettingRow> udp_rows() noexcept {
    return udp_section::rows;
}

}  // namespace telegate
