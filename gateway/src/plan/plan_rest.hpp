#pragma once

#include "config/load.hpp"
#include "http/rest_options.hpp"

#include <vector>

namespace telegate {

/// Returns the options of [rest]. Also checks the files, so --check reports the same problems as a start. Adds to
/// `problems`.
[[nodiscard]] RestOptions plan_rest(const Settings& settings, std::vector<SettingsProblem>& problems);

}  // namespace telegate
