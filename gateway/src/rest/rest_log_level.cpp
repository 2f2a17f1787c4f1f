#include "config/load.hpp"
#include "encode/time_text.hpp"
#include "rest/rest_body.hpp"
#include "rest/rest_query.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

struct LevelChange {
    std::string level;
    std::optional<std::chrono::milliseconds> revert_after;
};

/// Returns the body that is read to `change`.
RequestBody level_change_body(LevelChange& change) {
    const auto read_level = [&change](const Json& value) {
        change.level = value.is_string() ? value.get<std::string>() : "";
        return is_log_level(change.level);
    };
    const auto read_revert_after = [&change](const Json& value) {
        change.revert_after = value.is_string() ? parse_revert_after(value.get<std::string>()) : std::nullopt;
        return change.revert_after.has_value();
    };
    return {.form = R"(is not a JSON object: must be like {"level":"debug","revert_after":"10m"})",
            .depth_max = 8,
            .members = {{.name = "level",
                         .schema = schema_reference("Level"),
                         .kind = "a level",
                         .allowed = log_level_choices(),
                         .read = read_level,
                         .is_required = true},
                        {.name = "revert_after",
                         .schema = schema_reference("RevertAfter"),
                         .kind = "a valid time",
                         .allowed = std::string(revert_allowed),
                         .read = read_revert_after}}};
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
    LevelChange change;
    if (const auto faults = read_body(call.request.body, level_change_body(change)); !faults.empty()) {
        return unprocessable(call.request, faults);
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
              .describe_body = body_schema_of<level_change_body, LevelChange>,
              .answer_members = members_of<list_log_level, LogLevelStatus>,
              .answer = put_level},
};

}  // namespace

constinit const std::span<const RestRoute> log_level_routes = log_level_route_table;

}  // namespace telegate
