#include "device/driver_row.hpp"
#include "device/gateway_driver.hpp"

namespace telegate {
namespace gateway_driver {
namespace {

std::unique_ptr<Driver> make(const DeviceSettings& /*device*/, DeviceChannels /*channels*/) {
    return make_gateway_driver();
}

}  // namespace
}  // namespace gateway_driver

extern const DriverRow gateway_driver_row{.name = "gateway", .make = gateway_driver::make};

}  // namespace telegate
