#include "clock/clock_driver.hpp"
#include "device/driver_row.hpp"

namespace telegate {
namespace clock_driver {
namespace {

std::unique_ptr<Driver> make(const DeviceSettings& /*device*/, DeviceChannels /*channels*/) {
    return make_clock_driver();
}

}  // namespace
}  // namespace clock_driver

extern const DriverRow clock_driver_row{.name = "clock", .make = clock_driver::make};

}  // namespace telegate
