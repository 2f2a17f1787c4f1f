#pragma once

#include "plan/plan.hpp"

#include "config/load.hpp"

#include <vector>

namespace telegate {

/// What a person should know of the devices before a start, though the settings have no problem: what they need and
/// this machine does not have now, channels that they do not have now, Modbus addresses that look like those of a
/// manual, and registers that two channels read differently. Opens no device and sends nothing to one.
[[nodiscard]] std::vector<SettingsProblem> device_warnings(const Settings& settings, const Plan& plan);

}  // namespace telegate
