#pragma once

#include "config/load.hpp"
#include "durable/durable_log.hpp"

#include <vector>

namespace telegate {

/// Returns the recordings: first the one of the gateway, then those of devices in their order. Adds a problem for a
/// directory that is also replayed.
[[nodiscard]] std::vector<DurableLogOptions> plan_recorders(const Settings& settings,
                                                            std::vector<SettingsProblem>& problems);

}  // namespace telegate
