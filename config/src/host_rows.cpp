#include "rows.hpp"
#include "setting_rules.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace host_section {

using D = DeviceSettings;
using H = HostSettings;

constexpr TextListRule processes{.allowed = "the name of a program", .bytes_max = 64, .count_max = 32};
constexpr TextListRule filesystems{.allowed = "the path of a mount point", .bytes_max = 1'024, .count_max = 32};
constexpr TextListRule files{
    .allowed = "NAME=PATH, where each part of PATH may have one *", .bytes_max = 1'024, .count_max = 64};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "host", .key = "per_core", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "CPU use of every core as well as the total.", .slot = slot<&D::host, &H::per_core>},
    SettingRow{.section = "device", .driver = "host", .key = "proc_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Where procfs is mounted.", .slot = slot<&D::host, &H::proc_root>},
    SettingRow{.section = "device", .driver = "host", .key = "sys_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Where sysfs is mounted.", .slot = slot<&D::host, &H::sys_root>},
    SettingRow{.section = "device", .driver = "host", .key = "processes", .rule = processes,
               .applies = Applies::live,
               .meaning = "Programs whose processes are counted and measured.", .slot = slot<&D::host, &H::processes>},
    SettingRow{.section = "device", .driver = "host", .key = "filesystems", .rule = filesystems,
               .applies = Applies::live,
               .meaning = "Mount points whose space is measured, where it is local.",
               .slot = slot<&D::host, &H::filesystems>},
    SettingRow{.section = "device", .driver = "host", .key = "files", .rule = files, .applies = Applies::file,
               .meaning = "Files with a number that is a channel each, such as fan=/sys/class/hwmon/hwmon*/fan1_input.",
               .slot = slot<&D::host, &H::files>},
};
// clang-format on

}  // namespace host_section

std::span<const SettingRow> host_rows() noexcept {
    return host_section::rows;
}

}  // namespace telegate
