#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <string>
#include <utility>
#include <vector>

namespace telegate {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// What variables of the environment give: TELEGATE_QUEUE_POLICY, TELEGATE_LOG_LEVEL (keys of [gateway] need no
/// section), TELEGATE_DEVICE_BOILER_INTERVAL_MS (for the instances that `others` have, . - and / of their names as _),
/// and each with _FILE behind it, which names a file that holds the value. A variable that could mean two settings is a
/// problem, one that means none a warning: other programs' variables may begin with TELEGATE_ too.
[[nodiscard]] SettingsSource environment_source(const Variables& variables, const std::vector<SettingsSource>& others,
                                                ProblemList& problems, std::vector<std::string>& warnings);

/// The variable that gives this setting: TELEGATE_SECTION_KEY, or TELEGATE_SECTION_NAME_KEY.
[[nodiscard]] std::string variable_name(const SettingKey& key);

}  // namespace telegate
