#pragma once

#include "config/load.hpp"
#include "http/rest_options.hpp"

#include <vector>

namespace telegate {

/// What [rest] says, with its files looked at, so that --check finds what start would. Adds to `problems`.
[[nodiscard]] RestOptions plan_rest(const Settings& settings, std::vector<SettingsProblem>& problems);

}  // namespace telegate
