#pragma once

#include "config/load.hpp"
#include "config/settings_sources.hpp"

#include <vector>

namespace telegate {

/// Returns the reasons why this machine cannot currently run valid settings: addresses that no interface has, and
/// directories of sockets, files and the durable log that are missing or not writable, and a disk that is too small for
/// the log. Only inspects and changes nothing, so an address or a log in use is not detected. The result may differ at
/// the next start.
[[nodiscard]] std::vector<SettingsProblem> machine_problems(const Settings& settings, const SettingOrigins& origins);

}  // namespace telegate
