#pragma once

#include "config/load.hpp"
#include "config/settings_sources.hpp"

#include <vector>

namespace telegate {

/// What keeps this machine, as it is now, from running with settings that have no problem: addresses that no interface
/// has, folders of sockets and of the log file that are missing or closed to this user. Looks and touches nothing, so
/// an address that is taken is not found. The next start may find it otherwise.
[[nodiscard]] std::vector<SettingsProblem> machine_problems(const Settings& settings, const SettingOrigins& origins);

}  // namespace telegate
