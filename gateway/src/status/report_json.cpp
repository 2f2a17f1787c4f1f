#include "status/report_json.hpp"

#include "encode/time_text.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

Json errors_json(const std::vector<SettingsProblem>& problems) {
    Json errors = Json::array();
    for (const SettingsProblem& problem : problems) {
        const bool has_pointer = problem.place.name.empty() && problem.key.starts_with('/');
        Json error =
            has_pointer ? Json{{"pointer", problem.key}, {"detail", problem.what}} : Json{{"detail", problem.text()}};
        errors.push_back(std::move(error));
    }
    return errors;
}

}  // namespace

nlohmann::ordered_json change_json(const SettingChange& change) {
    Json json{{"key", key_text(change)}, {"kind", to_string(change.kind)}};
    if (change.kind == SettingChange::Kind::changed) {
        json["from"] = change.from;
        json["to"] = change.to;
    }
    json["applies"] = to_string(change.applies);
    return json;
}

nlohmann::ordered_json report_json(const ReloadReport& report) {
    Json changes = Json::array();
    Json restarts = Json::array();
    for (const SettingChange& change : report.changes) {
        changes.push_back(change_json(change));
        if (change.applies == Applies::restart) {
            restarts.push_back(key_text(change));
        }
    }
    return {{"outcome", to_string(report.outcome)},
            {"generation", report.generation},
            {"changes", std::move(changes)},
            {"needs_restart", std::move(restarts)},
            {"errors", errors_json(report.problems)},
            {"credentials", to_string(report.credentials)},
            {"reverts_at", report.reverts_at_utc_ns ? Json(to_iso8601(*report.reverts_at_utc_ns)) : Json()}};
}

}  // namespace telegate
