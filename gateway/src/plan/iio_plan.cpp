#include "device/iio_driver.hpp"
#include "plan/drivers.hpp"

#include <utility>

namespace telegate {

std::unique_ptr<Driver> make_iio(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const IioSettings& from = device.iio;
    IioDriverOptions options;
    options.device = from.device;
    options.channels = from.channels;
    options.buffered = from.buffered;
    options.trigger = from.trigger;
    options.buffer_length = from.buffer_length;
    options.sampling_frequency = from.sampling_frequency.value_or(0.0);
    options.timestamp_clock = from.timestamp_clock;
    options.silence_ms = from.silence_ms;
    options.sys_root = from.sys_root;
    options.dev_root = from.dev_root;
    return make_iio_driver(std::move(options));
}

}  // namespace telegate
