#pragma once

#include "device/driver.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Also the settings of a device with the driver iio, which limit the values.
struct IioDriverOptions {
    std::string device;                 // the value of the attribute `name` or `label`, or iio:deviceN
    std::vector<std::string> channels;  // kernel names, such as voltage0 or accel_x; empty: all inputs
    // read frames from the buffer, with kernel times, instead of one reading per tick
    bool buffered = false;
    std::string trigger;                        // buffered: the attribute `name` of the trigger; "": unchanged
    std::int64_t buffer_length = 128;           // buffered: frames that the kernel buffers
    std::optional<double> sampling_frequency;   // Hz; not set: unchanged
    std::string timestamp_clock = "monotonic";  // buffered: the clock of the timestamps, monotonic or realtime
    std::int64_t silence_ms = 0;                // buffered: fails after this time without a frame; 0: never
    std::string sys_root = "/sys";              // other roots are for tests and containers
    std::string dev_root = "/dev";
};

/// Creates a driver for a Linux Industrial I/O device, read from sysfs or from /dev/iio:deviceN. Channels, units and
/// the behavior on unplug are described in docs/drivers/iio.md. It has its own thread: reading an attribute waits for a
/// conversion, which cannot be interrupted; waiting for a frame can be interrupted by the cancel signal. Throws
/// std::invalid_argument for invalid options.
[[nodiscard]] std::unique_ptr<Driver> make_iio_driver(IioDriverOptions options);

/// Returns the channels that the device of this name has in sysfs now, as topic parts; empty if the device is missing.
[[nodiscard]] std::vector<std::string> iio_channels_now(const std::string& sys_root, const std::string& device);

}  // namespace telegate
