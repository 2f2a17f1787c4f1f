#pragma once

#include "live/live_settings.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The operations that the paths of the settings (rest_config.cpp) need. Called on `tg-http` threads; each must be
/// callable by several at once. Those about JSON are unset if the settings have no JSON form; then there is no /config.
struct ConfigHandlers {
    std::function<LiveSettings::InForce()> in_force;
    std::function<ReloadReport(std::string_view who, bool dry_run)> reload;
    std::function<ReloadReport(const LiveSettings::Replacement&, std::string_view who)> replace;
    std::function<std::string(const Settings&)> to_json;
    std::function<Settings(std::string_view text)> from_json;
    std::function<std::string(const Settings& in_force)> origins = {};
    std::function<Settings(const Settings& base, std::string_view patch)> from_patch = {};
    std::function<std::vector<ConfigGeneration>()> generations = {};
    std::function<std::optional<ReloadReport>(std::optional<std::uint64_t> generation, bool dry_run,
                                              std::string_view who)>
        rollback = {};
    std::function<std::optional<std::uint64_t>(std::string_view who)> confirm = {};
};

}  // namespace telegate
