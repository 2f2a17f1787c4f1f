#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "uplinks/uplinks.hpp"

#include <vector>

namespace telegate {

/// Returns the options of the uplinks, and adds a problem for each that cannot work. Threads: any.
[[nodiscard]] std::vector<UplinkOptions> plan_uplinks(const Settings& settings, std::vector<SettingsProblem>& problems);

}  // namespace telegate
