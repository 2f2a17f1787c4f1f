#pragma once

#include "device/driver.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

struct IioDriverOptions {
    std::string device;                 // what its attribute `name` or `label` says, or iio:deviceN
    std::vector<std::string> channels;  // as the kernel names them, such as voltage0 or accel_x; none: all inputs
    bool buffered = false;              // frames from its buffer, with the kernel's times, instead of one look per tick
    std::string trigger;                // with buffered: what its attribute `name` says; "": as it is set
    std::int64_t buffer_length = 128;   // with buffered: frames that the kernel keeps, 1 to 65536
    double sampling_frequency = 0.0;    // Hz; 0: as it is set
    std::string timestamp_clock = "monotonic";  // with buffered: or "realtime"
    std::int64_t silence_ms = 0;                // with buffered: without a frame for so long it has failed; 0: never
    std::string sys_root = "/sys";              // other roots serve tests and containers
    std::string dev_root = "/dev";
};

/// A device of Linux Industrial I/O, from sysfs and from /dev/iio:deviceN. Channels, units and what happens on unplug
/// are in docs/drivers/iio.md. Has a thread of its own: to read an attribute waits for a conversion, which nothing
/// interrupts; to wait for a frame the cancel signal does. Throws std::invalid_argument on bad options.
[[nodiscard]] std::unique_ptr<Driver> make_iio_driver(IioDriverOptions options);

/// Returns the channels that the device of this name has now in sysfs, as topic parts; none when it is not there.
[[nodiscard]] std::vector<std::string> iio_channels_now(const std::string& sys_root, const std::string& device);

}  // namespace telegate
