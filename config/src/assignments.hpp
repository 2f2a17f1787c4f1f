#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <string>
#include <vector>

namespace telegate {

/// What --set gives: "queue.policy=block", "device.boiler.interval_ms=250" (the name reaches from the first point to
/// the last one before the sign, so it may hold points), or a key of [gateway] alone. Other texts are problems.
[[nodiscard]] SettingsSource assignments_source(const std::vector<std::string>& assignments, ProblemList& problems);

}  // namespace telegate
