#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "device/driver_row.hpp"
#include "device/processing.hpp"

#include <vector>

namespace telegate {

/// Plans the processing of the channels of one device. Channels without settings are omitted. Conflicts between
/// settings of one channel are added to `problems`.
[[nodiscard]] ProcessingPlan plan_processing(DeviceChannels channels, std::vector<SettingsProblem>& problems);

}  // namespace telegate
