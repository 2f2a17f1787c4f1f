#include "device/host_driver.hpp"
#include "plan/drivers.hpp"

namespace telegate {

std::unique_ptr<Driver> make_host(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const HostSettings& from = device.host;
    return make_host_driver(
        {from.per_core, from.proc_root, from.sys_root, from.processes, from.filesystems, from.files});
}

}  // namespace telegate
