#include "device/clock_driver.hpp"
#include "plan/drivers.hpp"

namespace telegate {

std::unique_ptr<Driver> make_clock(const DeviceSettings& /*device*/, DeviceChannels /*channels*/) {
    return make_clock_driver();
}

}  // namespace telegate
