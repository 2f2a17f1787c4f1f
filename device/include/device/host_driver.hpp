#pragma once

#include "device/driver.hpp"

#include <memory>
#include <string>
#include <vector>

namespace telegate {

struct HostDriverOptions {
    bool per_core = false;            // CPU use of every core as well as the total
    std::string proc_root = "/proc";  // another root serves tests and containers
    std::string sys_root = "/sys";
    std::vector<std::string> processes;    // names of programs, 32 at most; a channel group each
    std::vector<std::string> filesystems;  // mount points, 32 at most
    std::vector<std::string> files;        // NAME=PATH, where each part of PATH may have a *; 64 at most
};

/// This machine, from procfs and sysfs: CPU use per mode, load, memory and swap, disks, network interfaces, pressure
/// (PSI), uptime and temperatures; processes, file systems and files that the options name. Units and channel names are
/// listed in docs/drivers/host.md. Throws std::system_error when `proc_root` itself cannot be opened, and
/// std::invalid_argument, with the option, the value and what is allowed, for a name or a path that cannot be.
[[nodiscard]] std::unique_ptr<Driver> make_host_driver(HostDriverOptions options);

}  // namespace telegate
