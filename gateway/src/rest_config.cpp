#include "rest_config.hpp"

#include "media_type.hpp"
#include "problem.hpp"
#include "rest_refusals.hpp"
#include "rest_route.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

std::string_view who_of(const HttpRequest& request) {
    return request.who.empty() ? "rest" : request.who;
}

HttpResponse refuse_change(const HttpRequest& request, int status, std::string detail,
                           const Json& more = Json::object()) {
    return problem_response({status, std::move(detail), problem_instance(request)}, more);
}

std::string entity_tag(std::string_view hash) {
    return '"' + std::string(hash) + '"';
}

/// Whether an If-Match field names these settings. A weak tag never does (RFC 9110).
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

/// Whether the query asks for a plan only; nullopt when its value is not allowed.
std::optional<bool> wants_dry_run(const RestQuery& query) {
    bool wanted = false;
    for (const std::string_view value : query.all("dry_run")) {
        wanted = value == "1" || value == "true";
        if (!wanted && value != "0" && value != "false") {
            return std::nullopt;
        }
    }
    return wanted;
}

Json errors_json(const std::vector<SettingsProblem>& problems) {
    Json errors = Json::array();
    for (const SettingsProblem& problem : problems) {
        const bool has_pointer = problem.file.empty() && problem.key.starts_with('/');
        Json error = has_pointer ? Json{{"pointer", problem.key}, {"detail", problem.what}}
                                 : Json{{"detail", problem_text(problem)}};
        errors.push_back(std::move(error));
    }
    return errors;
}

Json change_json(const SettingChange& change) {
    Json json{{"key", key_text(change)}, {"kind", to_string(change.kind)}};
    if (change.kind == SettingChange::Kind::changed) {
        json["from"] = change.from;
        json["to"] = change.to;
    }
    json["applies"] = to_string(change.applies);
    return json;
}

Json report_json(const ReloadReport& report) {
    Json changes = Json::array();
    for (const SettingChange& change : report.changes) {
        changes.push_back(change_json(change));
    }
    return {{"outcome", to_string(report.outcome)},
            {"generation", report.generation},
            {"changes", std::move(changes)},
            {"errors", errors_json(report.problems)},
            {"credentials", to_string(report.credentials)}};
}

std::string first_text(const ReloadReport& report) {
    return report.problems.empty() ? "" : ": " + problem_text(report.problems.front());
}

std::string log_note(const ReloadReport& report) {
    return " outcome=" + std::string(to_string(report.outcome)) + " generation=" + std::to_string(report.generation) +
           " changes=" + std::to_string(report.changes.size());
}

HttpResponse to_response(const HttpRequest& request, const ReloadReport& report) {
    const Json json = report_json(report);
    switch (report.outcome) {
        case ReloadOutcome::applied:
        case ReloadOutcome::unchanged:
        case ReloadOutcome::planned:
            return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n', {}};
        case ReloadOutcome::invalid:
            return refuse_change(request, 422, "the settings have problems, nothing was changed" + first_text(report),
                                 json);
        case ReloadOutcome::needs_restart:
            return refuse_change(request, 409, "this takes a restart, nothing was changed" + first_text(report), json);
        case ReloadOutcome::conflict:
            return refuse_change(request, 412, "nothing was changed" + first_text(report), json);
        case ReloadOutcome::failed: break;
    }
    HttpResponse response = refuse_change(request, 503, "nothing was changed" + first_text(report), json);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

HttpResponse answer_report(const HttpRequest& request, const ReloadReport& report) {
    HttpResponse response = to_response(request, report);
    response.log_note = log_note(report);
    return response;
}

HttpResponse without_json(const HttpRequest& request) {
    return refuse_change(request, 404, "these settings have no JSON form");
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

/// The settings of a body, or the refusal of what it has instead.
std::variant<Settings, HttpResponse> read_body(const RestCall& call) {
    try {
        return call.handlers.config.from_json(call.request.body);
    } catch (const SettingsError& error) {
        ReloadReport report;
        report.outcome = ReloadOutcome::invalid;
        report.generation = call.handlers.config.in_force().generation;
        report.problems = error.problems();
        return answer_report(call.request, report);
    }
}

HttpResponse put_config(const RestCall& call) {
    const ConfigHandlers& handlers = call.handlers.config;
    if (!handlers.from_json) {
        return without_json(call.request);
    }
    const std::optional<bool> dry_run = wants_dry_run(call.query);
    if (!dry_run) {
        return unprocessable(call.request, {{RestFault::Where::parameter, "dry_run", "allowed are 1 and 0"}});
    }
    std::variant<Settings, HttpResponse> body = read_body(call);
    if (auto* const refusal = std::get_if<HttpResponse>(&body)) {
        return std::move(*refusal);
    }
    LiveSettings::Replacement replacement{std::get<Settings>(std::move(body)), {}, *dry_run};
    const std::string if_match(field_of(call.request, "If-Match"));
    if (!if_match.empty()) {
        replacement.is_based_on = [&](std::string_view hash) {
            return matches(if_match, hash);
        };
    }
    HttpResponse response = answer_report(call.request, handlers.replace(replacement, who_of(call.request)));
    response.log_note += *dry_run ? " dry_run=true" : "";
    if (const std::string hash = handlers.in_force().hash; response.status == 200 && !*dry_run && !hash.empty()) {
        response.headers.emplace_back("ETag", entity_tag(hash));
    }
    return response;
}

HttpResponse post_reload(const RestCall& call) {
    return answer_report(call.request, call.handlers.config.reload(who_of(call.request)));
}

constexpr std::array config_parameters{
    RestParameter{.name = "dry_run",
                  .schema = R"({"enum": ["0", "1", "true", "false"]})",
                  .meaning = "With 1 the answer says what would change, and nothing does."},
    RestParameter{.name = "If-Match",
                  .place = RestParameter::Place::header,
                  .schema = R"({"type": "string"})",
                  .meaning = "The ETag of the settings that these were made from: refused when others are in force."},
};
constexpr std::array refused_replacement{409, 412, 503};
constexpr std::array refused_reload{409, 422, 503};

constexpr std::array config_route_table{
    RestRoute{.path = "/config",
              .summary = "The settings in force.",
              .gives = gives_json,
              .answer_schema = "Settings",
              .answer = get_config},
    RestRoute{.method = "PUT",
              .path = "/config",
              .role = HttpRole::admin,
              .summary = "Replace them.",
              .parameters = config_parameters,
              .body_schema = "Settings",
              .gives = gives_json,
              .answer_schema = "ReloadReport",
              .refusals = refused_replacement,
              .answer = put_config},
    RestRoute{.method = "POST",
              .path = "/-/reload",
              .role = HttpRole::admin,
              .summary = "Read the settings anew.",
              .gives = gives_json,
              .answer_schema = "ReloadReport",
              .refusals = refused_reload,
              .answer = post_reload},
};

}  // namespace

std::span<const RestRoute> config_routes() noexcept {
    return config_route_table;
}

}  // namespace telegate
