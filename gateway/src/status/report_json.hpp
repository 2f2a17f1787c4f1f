#pragma once

#include "config/settings_diff.hpp"
#include "status/reload_report.hpp"

#include <nlohmann/json_fwd.hpp>

namespace telegate {

/// A difference between two settings as REST and --check show it. Threads: any.
[[nodiscard]] nlohmann::ordered_json change_json(const SettingChange& change);
/// What became of other settings, with the keys of those that need a restart. Threads: any.
[[nodiscard]] nlohmann::ordered_json report_json(const ReloadReport& report);

}  // namespace telegate
