#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// What a device with the driver iio says.
struct IioSettings {
    std::string device;
    std::vector<std::string> channels;  // none: all
    bool buffered = false;
    std::string trigger;  // "": as it is set
    std::int64_t buffer_length = 128;
    std::optional<double> sampling_frequency;  // Hz; not set: as it is
    std::string timestamp_clock = "monotonic";
    std::int64_t silence_ms = 0;  // 0: never
    std::string sys_root = "/sys";
    std::string dev_root = "/dev";
};

}  // namespace telegate
