#include "base/json_excerpt.hpp"
#include "base/strict_json.hpp"
#include "config/load.hpp"
#include "encode/time_text.hpp"
#include "rest/rest_query.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t body_bytes_max = 1'024;
constexpr std::size_t body_depth_max = 8;

/// The parsed body, or its faults.
struct LevelChange {
    std::string level;
    std::optional<std::chrono::milliseconds> revert_after;
    std::vector<RestFault> faults;

    void fault(std::string pointer, std::string detail) {
        faults.push_back({RestFault::Where::body, std::move(pointer), std::move(detail)});
    }
};

void read_member(LevelChange& change, const std::string& name, const Json& value) {
    if (name == "level") {
        change.level = value.is_string() ? value.get<std::string>() : "";
        if (!is_log_level(change.level)) {
            change.fault("/level", json_excerpt(value) + " is not a level: must be " + log_level_choices());
        }
    } else if (name == "revert_after") {
        change.revert_after = value.is_string() ? parse_revert_after(value.get<std::string>()) : std::nullopt;
        if (!change.revert_after) {
            change.fault("/revert_after",
                         json_excerpt(value) + " is not a valid time: must be " + std::string(revert_allowed));
        }
    } else {
        change.fault(json_pointer_part(name), "is unknown: must be level or revert_after");
    }
}

LevelChange to_change(std::string_view body) {
    LevelChange change;
    if (body.size() > body_bytes_max) {
        change.fault("", "is too large: must be at most " + std::to_string(body_bytes_max) + " bytes");
        return change;
    }
    Json json;
    if (const auto fault = read_strict_json(body, {body_depth_max}, json)) {
        change.fault(fault->pointer, fault->what);
        return change;
    }
    if (!json.is_object()) {
        change.fault("", "is not a JSON object: must be like {\"level\":\"debug\",\"revert_after\":\"10m\"}");
        return change;
    }
    for (const auto& [name, value] : json.items()) {
        read_member(change, name, value);
    }
    if (!json.contains("level")) {
        change.fault("/level", "is missing: must be " + log_level_choices());
    }
    return change;
}

void list_log_level(JsonObject& out, const LogLevelStatus& status) {
    constexpr std::string_view level = R"({"$ref":"#/components/schemas/Level"})";
    const bool stays = status.reverts_to.empty();
    out.name_schema("LogLevel");
    out.add("level", Described{status.level, level});
    out.add("reverts_to", Described{text_or_null(status.reverts_to), schema_or_null(level)});
    out.add("reverts_at", time_or_null(stays ? 0 : status.reverts_at_utc_ns));
}

HttpResponse get_level(const RestCall& call) {
    return json_response(list_log_level, call.handlers.log_level->status());
}

HttpResponse put_level(const RestCall& call) {
    const LevelChange change = to_change(call.request.body);
    if (!change.faults.empty()) {
        return unprocessable(call.request, change.faults);
    }
    HttpResponse response = json_response(
        list_log_level, call.handlers.log_level->set(change.level, change.revert_after, call.request.who));
    response.log_note.add("log_level", change.level);
    if (change.revert_after) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*change.revert_after);
        response.log_note.add("for_s", seconds.count());
    }
    return response;
}

constexpr std::array log_level_route_table{
    RestRoute{.path = "/log-level",
              .summary = "The log level.",
              .answer_members = members_of<list_log_level, LogLevelStatus>,
              .answer = get_level},
    RestRoute{.method = "PUT",
              .path = "/log-level",
              .role = HttpRole::admin,
              .summary = "Change the log level, temporarily if revert_after is given.",
              .body_schema = "LogLevelChange",
              .answer_members = members_of<list_log_level, LogLevelStatus>,
              .answer = put_level},
};

}  // namespace

constinit const std::span<const RestRoute> log_level_routes = log_level_route_table;

}  // namespace telegate
