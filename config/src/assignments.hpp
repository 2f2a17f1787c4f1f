#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <string>
#include <vector>

namespace telegate {

/// Parses the arguments of --set: "queue.policy=block", "device.boiler.interval_ms=250", or the key alone for settings
/// of [gateway]. The section name reaches from the first dot to the last one before the equals sign, so it may contain
/// dots. Any other text is a problem.
[[nodiscard]] SettingsSource assignments_source(const std::vector<std::string>& assignments, ProblemList& problems);

}  // namespace telegate
