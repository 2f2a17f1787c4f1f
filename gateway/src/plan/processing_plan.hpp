#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "device/driver_row.hpp"
#include "device/processing.hpp"

#include <vector>

namespace telegate {

/// How the channels of one device are processed; those of which nothing is said are left out. What keys of one channel
/// say against each other is added to `problems`.
[[nodiscard]] ProcessingPlan plan_processing(DeviceChannels channels, std::vector<SettingsProblem>& problems);

}  // namespace telegate
