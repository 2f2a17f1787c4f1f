#pragma once

#include "plan/plan.hpp"

#include "config/load.hpp"

#include <vector>

namespace telegate {

/// Returns warnings about the devices that are useful before a start, although the settings have no problem: parts that
/// this machine currently lacks, channels that the devices currently lack, Modbus addresses that look like those in a
/// manual, and registers that two channels read differently. Opens no device and sends no data.
[[nodiscard]] std::vector<SettingsProblem> device_warnings(const Settings& settings, const Plan& plan);

}  // namespace telegate
