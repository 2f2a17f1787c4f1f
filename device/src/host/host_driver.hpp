#pragma once

#include "device/driver.hpp"

#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// Also the settings of a device with the driver host.
struct HostDriverOptions {
    bool per_core = false;            // CPU usage of each core in addition to the total
    std::string proc_root = "/proc";  // other roots are for tests and containers
    std::string sys_root = "/sys";
    std::vector<std::string> processes;    // program names, at most 32; each gets a group of channels
    std::vector<std::string> filesystems;  // mount points, at most 32
    std::vector<std::string> files;        // NAME=PATH, where each part of PATH may contain one *; at most 64
};

/// Creates a driver that reads this machine from procfs and sysfs: CPU usage per mode, load, memory and swap, disks,
/// network interfaces, pressure (PSI), uptime, temperatures, and the configured processes, file systems and files.
/// Units and channel names are listed in docs/drivers/host.md. Throws std::system_error if `proc_root` cannot be
/// opened, and std::invalid_argument with the option, the value and what is allowed for an invalid name or path.
[[nodiscard]] std::unique_ptr<Driver> make_host_driver(HostDriverOptions options);

}  // namespace telegate
