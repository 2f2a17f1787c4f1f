#pragma once

#include "config/load.hpp"
#include "recording/recorder.hpp"

#include <vector>

namespace telegate {

/// Who is to record: the gateway first, then devices in their order. Adds a problem for a file that is also replayed,
/// and for one whose older files are those of another.
[[nodiscard]] std::vector<RecorderOptions> plan_recorders(const Settings& settings,
                                                          std::vector<SettingsProblem>& problems);

}  // namespace telegate
