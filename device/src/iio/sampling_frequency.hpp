#pragma once

#include "iio/found_device.hpp"

#include <string>

namespace telegate::iio {

/// Sets how often a device samples, where it is set: at the device, at its channels, or at the trigger of that name
/// ("" for none). Returns "" or why it could not be set.
[[nodiscard]] std::string set_sampling_frequency(const std::string& sys_root, const FoundDevice& device,
                                                 const std::string& trigger, double hertz);

/// "PATH: what the system says".
[[nodiscard]] std::string failure_text(const std::string& path, int error);

}  // namespace telegate::iio
