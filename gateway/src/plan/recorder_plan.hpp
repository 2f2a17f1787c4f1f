#pragma once

#include "config/load.hpp"
#include "recording/recorder.hpp"

#include <vector>

namespace telegate {

/// Returns the recorders: first the one of the gateway, then those of devices in their order. Adds a problem for a file
/// that is also replayed, and for a file that has the name of another recorder's rotated file.
[[nodiscard]] std::vector<RecorderOptions> plan_recorders(const Settings& settings,
                                                          std::vector<SettingsProblem>& problems);

}  // namespace telegate
