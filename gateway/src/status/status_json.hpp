#pragma once

#include "config/settings_diff.hpp"
#include "status/reload_report.hpp"
#include "status/status.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace telegate {

/// Returns the body of GET /status; its structure is documented in docs/rest.md and stable. Threads: any.
[[nodiscard]] std::string status_json(const StatusSnapshot& snapshot);

/// Returns a difference between two settings as REST and --check show it. Threads: any.
[[nodiscard]] nlohmann::ordered_json change_json(const SettingChange& change);
/// Returns the result of a change of settings, with the keys that require a restart. Threads: any.
[[nodiscard]] nlohmann::ordered_json report_json(const ReloadReport& report);

}  // namespace telegate
