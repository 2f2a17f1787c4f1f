#include "rest/rest_report.hpp"

#include "http/problem.hpp"
#include "rest/rest_refusals.hpp"
#include "status/status_json.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse refuse_change(const HttpRequest& request, int status, std::string detail, const Json& more) {
    return problem_response({status, std::move(detail), problem_instance(request)}, more);
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
    const Json json = report_json(report);
    switch (report.outcome) {
        case ReloadOutcome::applied:
        case ReloadOutcome::unchanged:
        case ReloadOutcome::planned:
            return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n', {}};
        case ReloadOutcome::invalid:
            return refuse_change(request, 422, "the settings have problems; nothing was changed" + first_text(report),
                                 json);
        case ReloadOutcome::needs_restart:
            return refuse_change(request, 409,
                                 "the change requires a restart; nothing was changed" + first_text(report), json);
        case ReloadOutcome::conflict:
            return refuse_change(request, 412, "nothing was changed" + first_text(report), json);
        case ReloadOutcome::failed: break;
    }
    HttpResponse response = refuse_change(request, 503, "nothing was changed" + first_text(report), json);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace

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
