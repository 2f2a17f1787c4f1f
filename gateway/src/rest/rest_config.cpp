#include "rest/rest_config.hpp"

#include "config/load.hpp"
#include "http/media_type.hpp"
#include "rest/rest_query.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_report.hpp"
#include "rest/rest_route.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {
namespace {

std::string entity_tag(std::string_view hash) {
    return '"' + std::string(hash) + '"';
}

/// Returns whether an If-Match field matches these settings. A weak tag never does (RFC 9110).
bool matches(std::string_view if_match, std::string_view hash) {
    while (!if_match.empty()) {
        const std::size_t end = std::min(if_match.find(','), if_match.size());
        const std::string_view tag = trimmed(if_match.substr(0, end));
        if (tag == "*" || tag == entity_tag(hash)) {
            return true;
        }
        if_match.remove_prefix(std::min(end + 1, if_match.size()));
    }
    return false;
}

HttpResponse without_json(const HttpRequest& request) {
    return refused(request, 404, "these settings cannot be represented as JSON");
}

HttpResponse get_config(const RestCall& call) {
    const ConfigHandlers& handlers = call.handlers.config;
    if (!handlers.to_json) {
        return without_json(call.request);
    }
    const LiveSettings::InForce in_force = handlers.in_force();
    HttpResponse response{200, "application/json", handlers.to_json(in_force.settings), {}};
    if (!in_force.hash.empty()) {
        response.headers.emplace_back("ETag", entity_tag(in_force.hash));
    }
    return response;
}

/// The files may have been edited since the start, so the origins are those of a restart.
HttpResponse get_origins(const RestCall& call) {
    const ConfigHandlers& handlers = call.handlers.config;
    if (!handlers.origins) {
        return without_json(call.request);
    }
    try {
        return {200, "application/json", handlers.origins(handlers.in_force().settings), {}};
    } catch (const SettingsError& error) {
        return unavailable(call.request, std::string("the settings files have problems: ") + error.what());
    }
}

using MakeSettings = std::function<Settings(const Settings& in_force)>;

/// Applies other settings as the query and If-Match require, and returns the result.
HttpResponse replace_settings(const RestCall& call, MakeSettings make) {
    ParameterReader reader(call);
    LiveSettings::Replacement replacement;
    replacement.make = std::move(make);
    replacement.dry_run = reader.flag("dry_run");
    replacement.revert_after = reader.revert_after("revert_after");
    if (reader.failed()) {
        return reader.refusal();
    }
    const std::string if_match(field_of(call.request, "If-Match"));
    if (!if_match.empty()) {
        replacement.is_based_on = [&](std::string_view hash) {
            return matches(if_match, hash);
        };
    }
    const ConfigHandlers& handlers = call.handlers.config;
    HttpResponse response =
        answer_report(call.request, handlers.replace(replacement, who_of(call.request)), replacement.dry_run);
    const std::string hash = handlers.in_force().hash;
    if (response.status == 200 && !replacement.dry_run && !hash.empty()) {
        response.headers.emplace_back("ETag", entity_tag(hash));
    }
    return response;
}

HttpResponse put_config(const RestCall& call) {
    const ConfigHandlers& handlers = call.handlers.config;
    return handlers.from_json
               ? replace_settings(call,
                                  [&](const Settings& /*in_force*/) { return handlers.from_json(call.request.body); })
               : without_json(call.request);
}

HttpResponse patch_config(const RestCall& call) {
    const ConfigHandlers& handlers = call.handlers.config;
    return handlers.from_patch
               ? replace_settings(
                     call, [&](const Settings& in_force) { return handlers.from_patch(in_force, call.request.body); })
               : without_json(call.request);
}

HttpResponse post_reload(const RestCall& call) {
    ParameterReader reader(call);
    const bool dry_run = reader.flag("dry_run");
    if (reader.failed()) {
        return reader.refusal();
    }
    return answer_report(call.request, call.handlers.config.reload(who_of(call.request), dry_run), dry_run);
}

constexpr std::array reload_parameters{dry_run_parameter};
constexpr std::array config_parameters{
    dry_run_parameter,
    RestParameter{
        .name = "revert_after",
        .schema = revert_after_schema,
        .meaning =
            "1s to 24h: the previous settings are restored after this time unless POST /config/confirm is called."},
    RestParameter{
        .name = "If-Match",
        .place = RestParameter::Place::header,
        .schema = R"({"type": "string"})",
        .meaning = "ETag of the settings that the change is based on: the request is refused if other settings are in "
                   "force."},
};
constexpr std::array refused_replacement{409, 412, 503};
constexpr std::array refused_reload{409, 422, 503};

constexpr std::array config_route_table{
    RestRoute{
        .path = "/config", .summary = "The settings in force.", .answer_schema = "Settings", .answer = get_config},
    RestRoute{.method = "PUT",
              .path = "/config",
              .role = HttpRole::admin,
              .summary = "Replace the settings.",
              .parameters = config_parameters,
              .body_schema = "Settings",
              .answer_members = members_of<list_report, ReloadReport>,
              .refusals = refused_replacement,
              .answer = put_config},
    RestRoute{.method = "PATCH",
              .path = "/config",
              .role = HttpRole::admin,
              .summary = "Change some settings with a JSON merge patch (RFC 7396).",
              .parameters = config_parameters,
              .body_schema = "SettingsPatch",
              .body_type = "application/merge-patch+json",
              .answer_members = members_of<list_report, ReloadReport>,
              .refusals = refused_replacement,
              .answer = patch_config},
    RestRoute{.method = "POST",
              .path = "/-/reload",
              .role = HttpRole::admin,
              .summary = "Reload the settings.",
              .parameters = reload_parameters,
              .answer_members = members_of<list_report, ReloadReport>,
              .refusals = refused_reload,
              .answer = post_reload},
    RestRoute{.path = "/config/origins",
              .summary = "The origin of each setting in force.",
              .answer_schema = "Origins",
              .refusals = may_be_late,
              .answer = get_origins},
};

}  // namespace

std::span<const RestRoute> config_routes() noexcept {
    return config_route_table;
}

}  // namespace telegate
