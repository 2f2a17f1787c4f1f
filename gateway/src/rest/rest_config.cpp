#include "config/load.hpp"
#include "core/text.hpp"
#include "encode/time_text.hpp"
#include "http/problem.hpp"
#include "rest/rest_query.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "settings/settings_json.hpp"
#include "status/status_parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr std::uint64_t generation_max = 9'007'199'254'740'992;

std::vector<RestFault> faults_of(const ReloadReport& report) {
    std::vector<RestFault> faults;
    for (const SettingsProblem& problem : report.problems) {
        const bool has_pointer = problem.place.name.empty() && problem.key.starts_with('/');
        faults.push_back(has_pointer ? RestFault{RestFault::Where::body, problem.key, problem.what}
                                     : RestFault{RestFault::Where::in_detail, "", problem.text()});
    }
    return faults;
}

/// Adds the members of the result of a change, with the keys that require a restart.
void add_report(JsonObject& out, const ReloadReport& report) {
    const auto reverts_at = report.reverts_at_utc_ns;
    // A refusal has the other outcomes too; it is a problem.
    out.add("outcome", Described{report.outcome, R"({"enum":["applied","unchanged","planned"]})"});
    out.add("generation", Described{report.generation, schema_from_1});
    out.array("changes", report.changes, list_change);
    out.add("needs_restart", keys_that_need_restart(report));
    add_faults(out, faults_of(report));
    out.add("credentials", report.credentials);
    out.add("reverts_at", reverts_at ? std::optional(to_iso8601(*reverts_at)) : std::nullopt);
}

void list_report(JsonObject& out, const ReloadReport& report) {
    out.name_schema("ReloadReport");
    add_report(out, report);
}

/// Returns the client that changes settings, for the log.
std::string_view who_of(const HttpRequest& request) noexcept {
    return request.who.empty() ? "rest" : request.who;
}

HttpResponse refuse_change(const HttpRequest& request, int status, std::string_view what, const ReloadReport& report) {
    const std::string first = report.problems.empty() ? "" : ": " + report.problems.front().text();
    return problem_response({status, std::string(what) + first, problem_instance(request)},
                            [&](JsonObject& out) { add_report(out, report); });
}

HttpResponse to_response(const HttpRequest& request, const ReloadReport& report) {
    switch (report.outcome) {
        case ReloadOutcome::applied:
        case ReloadOutcome::unchanged:
        case ReloadOutcome::planned: return json_response(list_report, report);
        case ReloadOutcome::invalid:
            return refuse_change(request, 422, "the settings have problems; nothing was changed", report);
        case ReloadOutcome::needs_restart:
            return refuse_change(request, 409, "the change requires a restart; nothing was changed", report);
        case ReloadOutcome::conflict: return refuse_change(request, 412, "nothing was changed", report);
        case ReloadOutcome::failed: break;
    }
    HttpResponse response = refuse_change(request, 503, "nothing was changed", report);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

/// Returns the result of a change as a response with its log line.
HttpResponse answer_report(const HttpRequest& request, const ReloadReport& report, bool dry_run) {
    HttpResponse response = to_response(request, report);
    response.log_note.add("outcome", to_string(report.outcome))
        .add("generation", report.generation)
        .add("changes", report.changes.size());
    if (!report.waiting.empty()) {
        response.log_note.add("needs_restart", report.waiting.size());
    }
    if (dry_run) {
        response.log_note.add("dry_run", true);
    }
    return response;
}

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

HttpResponse get_config(const RestCall& call) {
    const ConfigGeneration in_force = call.handlers.settings->in_force();
    HttpResponse response{200, "application/json", shown_settings_json(*in_force.settings), {}};
    response.headers.emplace_back("ETag", entity_tag(in_force.hash));
    return response;
}

/// The files may have been edited since the start, so the origins are those of a restart.
HttpResponse get_origins(const RestCall& call) {
    const LiveSettings& settings = *call.handlers.settings;
    try {
        return {200, "application/json", settings_origins_json(*settings.in_force().settings, settings.load()), {}};
    } catch (const SettingsError& error) {
        return unavailable(call.request, std::string("the settings files have problems: ") + error.what());
    }
}

/// Applies other settings as the query and If-Match require, and returns the result.
HttpResponse replace_settings(const RestCall& call, std::function<Settings(const Settings& in_force)> make) {
    ParameterReader reader(call);
    LiveSettings::Replacement replacement{.make = std::move(make)};
    replacement.dry_run = reader.flag("dry_run");
    replacement.may_remove_data = reader.flag("remove_data");
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
    LiveSettings& settings = *call.handlers.settings;
    HttpResponse response =
        answer_report(call.request, settings.replace(replacement, who_of(call.request)), replacement.dry_run);
    if (response.status == 200 && !replacement.dry_run) {
        response.headers.emplace_back("ETag", entity_tag(settings.in_force().hash));
    }
    return response;
}

HttpResponse put_config(const RestCall& call) {
    return replace_settings(call, [&](const Settings& /*in_force*/) { return settings_from_json(call.request.body); });
}

HttpResponse patch_config(const RestCall& call) {
    return replace_settings(call,
                            [&](const Settings& in_force) { return settings_from_patch(in_force, call.request.body); });
}

HttpResponse post_reload(const RestCall& call) {
    ParameterReader reader(call);
    const bool dry_run = reader.flag("dry_run");
    if (reader.failed()) {
        return reader.refusal();
    }
    return answer_report(call.request, call.handlers.settings->reload(who_of(call.request), dry_run), dry_run);
}

void list_generations(JsonObject& out, const std::vector<ConfigGeneration>& generations) {
    out.name_schema("Generations");
    out.array("generations", generations, [&](JsonObject& object, const ConfigGeneration& each) {
        object.name_schema("Generation");
        object.add("generation", Described{each.number, schema_from_1});
        object.add("time", to_iso8601(each.time_utc_ns));
        object.add("by", each.who);
        object.add("hash", each.hash);
        object.add("changes_count", each.changes_count);
        object.add("in_force", !generations.empty() && &each == &generations.back());
    });
}

HttpResponse get_generations(const RestCall& call) {
    return json_response(list_generations, call.handlers.settings->generations());
}

HttpResponse not_kept(const RestCall& call, std::optional<std::uint64_t> wanted) {
    const std::vector<ConfigGeneration> kept = call.handlers.settings->generations();
    const std::string text = wanted ? "there is no generation " + std::to_string(*wanted)
                                    : "there is no generation before " + std::to_string(kept.back().number);
    return refused(call.request, 404,
                   text + "; kept: " + std::to_string(kept.front().number) + " to " +
                       std::to_string(kept.back().number) + ", see GET /config/generations");
}

HttpResponse post_rollback(const RestCall& call) {
    ParameterReader reader(call);
    const bool dry_run = reader.flag("dry_run");
    const bool may_remove_data = reader.flag("remove_data");
    const std::optional<std::uint64_t> generation = reader.number("generation", {1, generation_max});
    if (reader.failed()) {
        return reader.refusal();
    }
    const auto report = call.handlers.settings->rollback(generation, dry_run, who_of(call.request), may_remove_data);
    return report ? answer_report(call.request, *report, dry_run) : not_kept(call, generation);
}

void list_confirmed(JsonObject& out, std::uint64_t generation) {
    out.name_schema("Confirmed");
    out.add("confirmed", Described{generation, schema_from_1});
}

HttpResponse post_confirm(const RestCall& call) {
    const std::optional<std::uint64_t> generation = call.handlers.settings->confirm(who_of(call.request));
    if (!generation) {
        return refused(call.request, 409,
                       "there are no settings to confirm: use PUT or PATCH /config with revert_after first");
    }
    HttpResponse response = json_response(list_confirmed, *generation);
    response.log_note.add("generation", *generation);
    return response;
}

constexpr RestParameter dry_run_parameter{
    .name = "dry_run",
    .schema = R"({"enum": ["0", "1", "true", "false"]})",
    .meaning = "With 1, the response reports what would change, and nothing is changed."};
constexpr RestParameter remove_data_parameter{
    .name = "remove_data",
    .schema = R"({"enum": ["0", "1", "true", "false"]})",
    .meaning = "With 1, the log may remove data that lower limits do not permit; otherwise such a change is refused."};
constexpr std::array reload_parameters{dry_run_parameter};
constexpr std::array config_parameters{
    dry_run_parameter,
    remove_data_parameter,
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
constexpr std::array rollback_parameters{
    RestParameter{.name = "generation",
                  .schema = R"({"type": "integer", "minimum": 1, "maximum": 9007199254740992})",
                  .meaning = "Generation to restore; by default the one before the one in force."},
    dry_run_parameter,
    remove_data_parameter,
};

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
              .refusals = {409, 412, 503},
              .answer = put_config},
    RestRoute{.method = "PATCH",
              .path = "/config",
              .role = HttpRole::admin,
              .summary = "Change some settings with a JSON merge patch (RFC 7396).",
              .parameters = config_parameters,
              .body_schema = "SettingsPatch",
              .body_type = "application/merge-patch+json",
              .answer_members = members_of<list_report, ReloadReport>,
              .refusals = {409, 412, 503},
              .answer = patch_config},
    RestRoute{.method = "POST",
              .path = "/-/reload",
              .role = HttpRole::admin,
              .summary = "Reload the settings.",
              .parameters = reload_parameters,
              .answer_members = members_of<list_report, ReloadReport>,
              .refusals = {409, 422, 503},
              .answer = post_reload},
    RestRoute{.path = "/config/origins",
              .summary = "The origin of each setting in force.",
              .answer_schema = "Origins",
              .refusals = {503},
              .answer = get_origins},
    RestRoute{.path = "/config/generations",
              .summary = "The latest generations of the settings.",
              .answer_members = members_of<list_generations, std::vector<ConfigGeneration>>,
              .answer = get_generations},
    RestRoute{.method = "POST",
              .path = "/config/rollback",
              .role = HttpRole::admin,
              .summary = "Restore earlier settings.",
              .parameters = rollback_parameters,
              .answer_members = members_of<list_report, ReloadReport>,
              .refusals = {404, 409, 503},
              .answer = post_rollback},
    RestRoute{.method = "POST",
              .path = "/config/confirm",
              .role = HttpRole::admin,
              .summary = "Confirm settings that would otherwise be reverted.",
              .answer_members = members_of<list_confirmed, std::uint64_t>,
              .refusals = {409},
              .answer = post_confirm},
};

}  // namespace

constinit const std::span<const RestRoute> config_routes = config_route_table;

}  // namespace telegate
