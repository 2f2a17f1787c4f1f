#pragma once

#include "config/load.hpp"
#include "plan/drivers.hpp"

#include <cstddef>
#include <vector>

namespace telegate {

/// Adds a warning for what is allowed in the channels of a modbus device and mostly a mistake: addresses as manuals
/// number them, such as 40101, and channels whose registers overlap in part. At most overlaps_told_max of the latter.
void add_modbus_advice(const DeviceSettings& device, DeviceChannels channels, std::vector<SettingsProblem>& warnings);

inline constexpr std::size_t overlaps_told_max = 20;

}  // namespace telegate
