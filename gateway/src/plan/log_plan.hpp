#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "durable/durable_log.hpp"

#include <vector>

namespace telegate {

/// Returns the options of the durable log, and adds a problem for each that cannot work. Threads: any.
[[nodiscard]] DurableLogOptions plan_log(const Settings& settings, std::vector<SettingsProblem>& problems);

}  // namespace telegate
