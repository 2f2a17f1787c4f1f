#pragma once

#include "config/settings.hpp"
#include "config/settings_diff.hpp"
#include "device/sampler.hpp"
#include "plan/plan.hpp"

#include <vector>

namespace telegate {

/// Changed settings as a plan, and the devices that differ, with new drivers where needed.
struct PlannedChange {
    Plan plan;  // its devices are moved to `devices`
    DeviceChange devices;
};

/// Plans a change without touching anything that runs. `changes` is diff(from, to). Throws SettingsError with every
/// problem.
[[nodiscard]] PlannedChange plan_change(const Settings& from, const Settings& to,
                                        const std::vector<SettingChange>& changes);

}  // namespace telegate
