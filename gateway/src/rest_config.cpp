#include "rest_config.hpp"

#include "problem.hpp"
#include "rest_route.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

std::string to_instance(const HttpRequest& request) {
    return std::string(request.target.substr(0, request.target.find('?')));
}

std::string_view field(const HttpRequest& request, std::string_view name) {
    return request.field ? request.field(name) : std::string_view();
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Calls `visit` with each part between separators.
template <class Visit>
void for_each_part(std::string_view text, char separator, const Visit& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        visit(trimmed(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string_view who_of(const HttpRequest& request) {
    return request.who.empty() ? "rest" : request.who;
}

HttpResponse refuse(const HttpRequest& request, int status, std::string detail, const Json& more = Json::object()) {
    return problem_response({status, std::move(detail), to_instance(request)}, more);
}

HttpResponse wrong_method(const HttpRequest& request, std::string_view allowed) {
    HttpResponse response =
        refuse(request, 405, std::string(request.method) + " is not possible here; possible: " + std::string(allowed));
    response.headers.emplace_back("Allow", allowed);
    return response;
}

std::string entity_tag(std::string_view hash) {
    return '"' + std::string(hash) + '"';
}

/// Whether an If-Match field names these settings. A weak tag never does (RFC 9110).
bool matches(std::string_view if_match, std::string_view hash) {
    bool any = false;
    for_each_part(if_match, ',', [&](std::string_view tag) { any = any || tag == "*" || tag == entity_tag(hash); });
    return any;
}

bool is_json(std::string_view content_type) {
    const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
    constexpr std::string_view wanted = "application/json";
    return std::equal(type.begin(), type.end(), wanted.begin(), wanted.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

/// Whether the query asks for a plan only; nullopt when its value is not allowed.
std::optional<bool> wants_dry_run(std::string_view target) {
    const std::size_t query = target.find('?');
    std::optional<bool> wanted = false;
    for_each_part(query == std::string_view::npos ? "" : target.substr(query + 1), '&', [&](std::string_view part) {
        if (part.substr(0, part.find('=')) != "dry_run") {
            return;
        }
        const std::string_view value = part.substr(std::min(part.find('=') + 1, part.size()));
        if (value == "1" || value == "true") {
            wanted = true;
        } else if (value != "0" && value != "false") {
            wanted.reset();
        }
    });
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
            {"errors", errors_json(report.problems)}};
}

std::string first_text(const ReloadReport& report) {
    return report.problems.empty() ? "" : ": " + problem_text(report.problems.front());
}

HttpResponse answer_report(const HttpRequest& request, const ReloadReport& report) {
    const Json json = report_json(report);
    switch (report.outcome) {
        case ReloadOutcome::applied:
        case ReloadOutcome::unchanged:
        case ReloadOutcome::planned:
            return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n', {}};
        case ReloadOutcome::invalid:
            return refuse(request, 422, "the settings have problems, nothing was changed" + first_text(report), json);
        case ReloadOutcome::needs_restart:
            return refuse(request, 409, "this takes a restart, nothing was changed" + first_text(report), json);
        case ReloadOutcome::conflict: return refuse(request, 412, "nothing was changed" + first_text(report), json);
        case ReloadOutcome::failed: break;
    }
    HttpResponse response = refuse(request, 503, "nothing was changed" + first_text(report), json);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

HttpResponse get_config(const ConfigHandlers& handlers) {
    const LiveSettings::InForce in_force = handlers.in_force();
    HttpResponse response{200, "application/json", handlers.to_json(in_force.settings), {}};
    if (!in_force.hash.empty()) {
        response.headers.emplace_back("ETag", entity_tag(in_force.hash));
    }
    return response;
}

HttpResponse put_config(const ConfigHandlers& handlers, const HttpRequest& request) {
    if (!is_json(field(request, "Content-Type"))) {
        return refuse(request, 415, "the body must be application/json");
    }
    const std::optional<bool> dry_run = wants_dry_run(request.target);
    if (!dry_run) {
        const Json error{{"parameter", "dry_run"}, {"detail", "allowed are 1 and 0"}};
        return refuse(request, 422, "dry_run has a value that is not allowed", {{"errors", Json::array({error})}});
    }
    LiveSettings::Replacement replacement;
    try {
        replacement.settings = handlers.from_json(request.body);
    } catch (const SettingsError& error) {
        ReloadReport report;
        report.outcome = ReloadOutcome::invalid;
        report.generation = handlers.in_force().generation;
        report.problems = error.problems();
        return answer_report(request, report);
    }
    replacement.dry_run = *dry_run;
    const std::string if_match(field(request, "If-Match"));
    if (!if_match.empty()) {
        replacement.is_based_on = [&](std::string_view hash) {
            return matches(if_match, hash);
        };
    }
    HttpResponse response = answer_report(request, handlers.replace(replacement, who_of(request)));
    if (const std::string hash = handlers.in_force().hash; response.status == 200 && !*dry_run && !hash.empty()) {
        response.headers.emplace_back("ETag", entity_tag(hash));
    }
    return response;
}

HttpResponse config_of(const RestCall& call) {
    return answer_config(call.handlers.config, call.request);
}

HttpResponse reload_of(const RestCall& call) {
    return answer_reload(call.handlers.config, call.request);
}

constexpr std::array parameters{
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

constexpr std::array routes{
    RestRoute{.path = "/config",
              .summary = "The settings in force.",
              .gives = gives_json,
              .answer_schema = "Settings",
              .answer = config_of},
    RestRoute{.method = "PUT",
              .path = "/config",
              .role = HttpRole::admin,
              .summary = "Replace them.",
              .parameters = parameters,
              .body_schema = "Settings",
              .gives = gives_json,
              .answer_schema = "ReloadReport",
              .refusals = refused_replacement,
              .answer = config_of},
    RestRoute{.method = "POST",
              .path = "/-/reload",
              .role = HttpRole::admin,
              .summary = "Read the settings anew.",
              .gives = gives_json,
              .answer_schema = "ReloadReport",
              .refusals = refused_reload,
              .answer = reload_of},
};

}  // namespace

HttpResponse answer_config(const ConfigHandlers& handlers, const HttpRequest& request) {
    if (!handlers.to_json || !handlers.from_json) {
        return refuse(request, 404, "these settings have no JSON form");
    }
    if (request.method == "GET" || request.method == "HEAD") {
        return get_config(handlers);
    }
    return request.method == "PUT" ? put_config(handlers, request) : wrong_method(request, "GET, HEAD, PUT");
}

HttpResponse answer_reload(const ConfigHandlers& handlers, const HttpRequest& request) {
    if (request.method != "POST") {
        return wrong_method(request, "POST");
    }
    return answer_report(request, handlers.reload(who_of(request)));
}

std::span<const RestRoute> config_routes() noexcept {
    return routes;
}

}  // namespace telegate
