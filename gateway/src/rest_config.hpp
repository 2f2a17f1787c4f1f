#pragma once

#include "http_message.hpp"
#include "live_settings.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace telegate {

/// What the paths of the settings ask of the gateway. Called on `tg-http` threads; each must be callable by several at
/// once. Those about JSON are empty where settings have no such form: then there is no /config.
struct ConfigHandlers {
    std::function<LiveSettings::InForce()> in_force;
    std::function<ReloadReport(std::string_view who)> reload;
    std::function<ReloadReport(const LiveSettings::Replacement&, std::string_view who)> replace;
    std::function<std::string(const Settings&)> to_json;
    std::function<Settings(std::string_view text)> from_json;
};

/// GET and PUT /config. docs/reload.md is its description.
/// Threads: any, as the handlers are. Failure: throws what the handlers throw.
[[nodiscard]] HttpResponse answer_config(const ConfigHandlers& handlers, const HttpRequest& request);
/// POST /-/reload. The same.
[[nodiscard]] HttpResponse answer_reload(const ConfigHandlers& handlers, const HttpRequest& request);

}  // namespace telegate
