#include "rest/rest_report.hpp"

#include "encode/time_text.hpp"
#include "http/problem.hpp"
#include "rest/rest_refusals.hpp"
#include "status/status_parts.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

std::vector<RestFault> faults_of(const ReloadReport& report) {
    std::vector<RestFault> faults;
    for (const SettingsProblem& problem : report.problems) {
        const bool has_pointer = problem.place.name.empty() && problem.key.starts_with('/');
        faults.push_back(has_pointer ? RestFault{RestFault::Where::body, problem.key, problem.what}
                                     : RestFault{RestFault::Where::in_detail, "", problem.text()});
    }
    return faults;
}

void add_report(JsonObject& out, const ReloadReport& report) {
    std::vector<std::string> restarts;
    for (const SettingChange& change : report.changes) {
        if (change.applies == Applies::restart) {
            restarts.push_back(key_text(change));
        }
    }
    const auto reverts_at = report.reverts_at_utc_ns;
    // A refusal has the other outcomes too; it is a problem.
    out.add("outcome", Described{report.outcome, R"({"enum":["applied","unchanged","planned"]})"});
    out.add("generation", Described{report.generation, schema_from_1});
    out.array("changes", report.changes, list_change);
    out.add("needs_restart", restarts);
    add_faults(out, faults_of(report));
    out.add("credentials", report.credentials);
    out.add("reverts_at", reverts_at ? std::optional(to_iso8601(*reverts_at)) : std::nullopt);
}

HttpResponse refuse_change(const HttpRequest& request, int status, std::string detail, const ReloadReport& report) {
    return problem_response({status, std::move(detail), problem_instance(request)},
                            [&](JsonObject& out) { add_report(out, report); });
}

std::string first_text(const ReloadReport& report) {
    return report.problems.empty() ? "" : ": " + report.problems.front().text();
}

LogFields log_note(const ReloadReport& report) {
    return LogFields()
        .add("outcome", to_string(report.outcome))
        .add("generation", report.generation)
        .add("changes", report.changes.size());
}

HttpResponse to_response(const HttpRequest& request, const ReloadReport& report) {
    switch (report.outcome) {
        case ReloadOutcome::applied:
        case ReloadOutcome::unchanged:
        case ReloadOutcome::planned: return json_response(list_report, report);
        case ReloadOutcome::invalid:
            return refuse_change(request, 422, "the settings have problems; nothing was changed" + first_text(report),
                                 report);
        case ReloadOutcome::needs_restart:
            return refuse_change(request, 409,
                                 "the change requires a restart; nothing was changed" + first_text(report), report);
        case ReloadOutcome::conflict:
            return refuse_change(request, 412, "nothing was changed" + first_text(report), report);
        case ReloadOutcome::failed: break;
    }
    HttpResponse response = refuse_change(request, 503, "nothing was changed" + first_text(report), report);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace

void list_report(JsonObject& out, const ReloadReport& report) {
    out.name_schema("ReloadReport");
    add_report(out, report);
}

std::string_view who_of(const HttpRequest& request) noexcept {
    return request.who.empty() ? "rest" : request.who;
}

HttpResponse answer_report(const HttpRequest& request, const ReloadReport& report, bool dry_run) {
    HttpResponse response = to_response(request, report);
    response.log_note = log_note(report);
    if (dry_run) {
        response.log_note.add("dry_run", true);
    }
    return response;
}

}  // namespace telegate
