#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "host/host_driver.hpp"

#include <array>
#include <string>
#include <vector>

namespace telegate {
namespace host_driver {
namespace {

using H = HostDriverOptions;

constexpr TextListRule processes_rule{
    .holds = Holds::plain, .allowed = "the name of a program", .bytes_max = 64, .count_max = 32};
constexpr TextListRule filesystems_rule{
    .holds = Holds::plain, .allowed = "the path of a mount point", .bytes_max = 1'024, .count_max = 32};
constexpr TextListRule files_rule{.holds = Holds::path,
                                  .allowed = "NAME=PATH, where each part of PATH may contain one *",
                                  .bytes_max = 1'024,
                                  .count_max = 64};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "per_core", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the CPU usage of each core is read in addition to the total.",
               .slot = slot_of<&H::per_core>},
    SettingRow{.section = "device", .key = "proc_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Directory where procfs is mounted.", .slot = slot_of<&H::proc_root>},
    SettingRow{.section = "device", .key = "sys_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Directory where sysfs is mounted.", .slot = slot_of<&H::sys_root>},
    SettingRow{.section = "device", .key = "processes", .rule = processes_rule,
               .applies = Applies::live,
               .meaning = "Names of programs whose processes are counted and measured.",
               .slot = slot_of<&H::processes>},
    SettingRow{.section = "device", .key = "filesystems", .rule = filesystems_rule,
               .applies = Applies::live,
               .meaning = "Mount points whose free space is measured. Only local file systems are queried.",
               .slot = slot_of<&H::filesystems>},
    SettingRow{.section = "device", .key = "files", .rule = files_rule, .applies = Applies::file,
               .meaning = "Files that contain a number, each a channel, such as "
                          "fan=/sys/class/hwmon/hwmon*/fan1_input.",
               .slot = slot_of<&H::files>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    return make_host_driver(part_of<HostDriverOptions>(device.parts));
}

std::optional<std::vector<std::string>> channels_now(const DeviceSettings& device, DeviceChannels channels) {
    return channels_at_open(device, channels);
}

}  // namespace
}  // namespace host_driver

extern const DriverRow host_driver_row{.name = "host",
                                       .settings = host_driver::rows,
                                       .make = host_driver::make,
                                       .channels_now = host_driver::channels_now};

}  // namespace telegate
