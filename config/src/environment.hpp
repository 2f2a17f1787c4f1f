#pragma once

#include "config/given_settings.hpp"
#include "config/settings_sources.hpp"
#include "problem_list.hpp"

#include <string>
#include <utility>
#include <vector>

namespace telegate {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Reads environment variables: TELEGATE_QUEUE_POLICY, TELEGATE_LOG_LEVEL (keys of [gateway] need no section),
/// TELEGATE_DEVICE_BOILER_INTERVAL_MS. The last form exists for the instances that `others` contain; . - and / in their
/// names become _. With the suffix _FILE, a variable names a file that contains the value. A variable that could mean
/// two settings is a problem. A variable that means none is a warning, because variables of other programs may also
/// begin with TELEGATE_.
[[nodiscard]] SettingsSource environment_source(const Variables& variables, const std::vector<SettingsSource>& others,
                                                ProblemList& problems, std::vector<std::string>& warnings);

/// Returns the variable of this setting: TELEGATE_SECTION_KEY or TELEGATE_SECTION_NAME_KEY.
[[nodiscard]] std::string variable_name(const SettingKey& key);

/// Parses the arguments of --set: "queue.policy=block", "device.boiler.interval_ms=250", or the key alone for settings
/// of [gateway]. The section name reaches from the first dot to the last one before the equals sign, so it may contain
/// dots. Any other text is a problem.
[[nodiscard]] SettingsSource assignments_source(const std::vector<std::string>& assignments, ProblemList& problems);

}  // namespace telegate
