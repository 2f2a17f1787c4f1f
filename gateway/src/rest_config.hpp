#pragma once

#include "live_settings.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace telegate {

/// What the paths of the settings (rest_config.cpp) ask of the gateway. Called on `tg-http` threads; each must be
/// callable by several at once. Those about JSON are empty where settings have no such form: then there is no /config.
struct ConfigHandlers {
    std::function<LiveSettings::InForce()> in_force;
    std::function<ReloadReport(std::string_view who)> reload;
    std::function<ReloadReport(const LiveSettings::Replacement&, std::string_view who)> replace;
    std::function<std::string(const Settings&)> to_json;
    std::function<Settings(std::string_view text)> from_json;
};

}  // namespace telegate
