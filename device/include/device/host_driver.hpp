#pragma once

#include "device/driver.hpp"

#include <memory>
#include <string>

namespace telegate {

struct HostDriverOptions {
    bool per_core = false;            // CPU use of every core as well as the total
    std::string proc_root = "/proc";  // another root serves tests and containers
    std::string sys_root = "/sys";
};

/// This machine, from procfs and sysfs: CPU use per mode, load, memory and swap, disks, network interfaces, pressure
/// (PSI), uptime and temperatures. Units and channel names are listed in docs/devices.md.
/// Throws std::system_error only when `proc_root` itself cannot be opened.
[[nodiscard]] std::unique_ptr<Driver> make_host_driver(HostDriverOptions options);

}  // namespace telegate
