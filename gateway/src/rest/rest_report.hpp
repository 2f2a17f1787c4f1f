#pragma once

#include "http/http_message.hpp"
#include "rest/rest_route.hpp"
#include "status/reload_report.hpp"

#include <string_view>

namespace telegate {

inline constexpr RestParameter dry_run_parameter{
    .name = "dry_run",
    .schema = R"({"enum": ["0", "1", "true", "false"]})",
    .meaning = "With 1, the response reports what would change, and nothing is changed."};

/// Adds the members of the result of a change of settings, with the keys that require a restart. Threads: any.
void list_report(JsonObject& out, const ReloadReport& report);
/// Returns the client that changes settings, for the log. Threads: any.
[[nodiscard]] std::string_view who_of(const HttpRequest& request) noexcept;
/// Returns the result of a change of settings as a response with its log line. Threads: any.
[[nodiscard]] HttpResponse answer_report(const HttpRequest& request, const ReloadReport& report, bool dry_run);

}  // namespace telegate
