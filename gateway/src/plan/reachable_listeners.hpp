#pragma once

#include "config/settings.hpp"
#include "config/settings_sources.hpp"

#include <map>
#include <string>

namespace telegate {

/// Returns the settings with an address on which other machines can reach the gateway without CURVE, and their values.
/// Settings that need a restart are omitted.
[[nodiscard]] std::map<SettingKey, std::string> reachable_listeners(const Settings& settings);

/// Returns why REST cannot set such an address.
[[nodiscard]] std::string reachable_listener_fault(const SettingKey& key, const std::string& value);

}  // namespace telegate
