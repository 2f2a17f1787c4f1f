#pragma once

#include "iio/found_device.hpp"

#include <string>

namespace telegate::iio {

/// Sets the sampling frequency where the device has this attribute: on the device, on its channels, or on the trigger
/// of this name ("" for none). Returns "", or why it could not be set.
[[nodiscard]] std::string set_sampling_frequency(const std::string& sys_root, const FoundDevice& device,
                                                 const std::string& trigger, double hertz);

/// Returns "PATH: ERROR MESSAGE".
[[nodiscard]] std::string failure_text(const std::string& path, int error);

}  // namespace telegate::iio
