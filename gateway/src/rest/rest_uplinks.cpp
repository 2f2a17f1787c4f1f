#include "config/joined.hpp"
#include "encode/time_text.hpp"
#include "rest/rest_body.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr RestParameter name_parameter = path_parameter("name", "Uplink, as named in the settings.");
constexpr std::array uplink_name{name_parameter};
constexpr std::array rewind_parameters{
    name_parameter,
    RestParameter{.name = "confirm",
                  .schema = R"({"enum": ["0", "1", "true", "false"]})",
                  .meaning =
                      "With 1, the server may store messages twice that were delivered with other settings; otherwise "
                      "such a rewind is refused."}};

void list_uplinks(JsonObject& out, const std::vector<UplinkReport>& uplinks) {
    out.name_schema("UplinkList");
    out.array("uplinks", uplinks, list_uplink);
}

HttpResponse get_uplinks(const RestCall& call) {
    return json_response(list_uplinks, call.handlers.uplinks());
}

HttpResponse get_uplink(const RestCall& call) {
    std::vector<std::string> known;
    for (const UplinkReport& uplink : call.handlers.uplinks()) {
        if (uplink.name == call.arguments.front()) {
            return json_response(list_uplink, uplink);
        }
        known.push_back(uplink.name);
    }
    return refused(call.request, 404,
                   "there is no uplink " + quoted_text(call.arguments.front()) + "; known uplinks: " + joined(known));
}

/// Runs a command. Responds with the uplink if it was done.
HttpResponse run_command(const RestCall& call, std::string_view name, const Uplinks::Command& command) {
    const auto run = [&]() -> HttpResponse {
        try {
            switch (call.handlers.uplink_commands->call(call.arguments.front(), command)) {
                case UplinkResult::late: return unavailable(call.request, "the uplink did not respond in time");
                case UplinkResult::no_log:
                    return refused(call.request, 409, "the log is not open yet; repeat it later");
                case UplinkResult::not_delivered:
                    return unprocessable(call.request, {{RestFault::Where::body, "/position",
                                                         "is not delivered yet: must be at most "
                                                         "`position` of the uplink"}});
                case UplinkResult::stores_twice:
                    return refused(call.request, 409,
                                   "messages from there on were delivered with other settings, so the server would "
                                   "store them twice, see `warning` of the uplink; confirm it with confirm=1");
                case UplinkResult::no_uplink:
                case UplinkResult::done: break;
            }
        } catch (const std::system_error& error) {
            return unavailable(call.request, error.what());
        }
        return get_uplink(call);
    };
    HttpResponse response = run();
    response.log_note.add("command", name).add("uplink", call.arguments.front());
    return response;
}

template <bool is_paused>
HttpResponse post_pause(const RestCall& call) {
    return run_command(call, is_paused ? "pause" : "resume", [](uplink::UplinkRunner& runner) {
        runner.pause(is_paused);
        return UplinkResult::done;
    });
}

/// Returns the body that is read to `target`.
RequestBody rewind_body(uplink::RewindTarget& target) {
    const auto read_position = [&target](const Json& value) {
        target = value.is_number_unsigned() ? value.get<store::Position>() : 0;
        return value.is_number_unsigned();
    };
    const auto read_time = [&target](const Json& value) {
        const auto time = value.is_string() ? parse_iso8601(value.get<std::string>()) : std::nullopt;
        target = std::chrono::nanoseconds(time.value_or(0));
        return time.has_value();
    };
    return {.form = R"(is not a target: must be like {"position":1000} or {"time":"2026-11-20T23:11:34Z"})",
            .is_one_member = true,
            .depth_max = 4,
            .members = {{.name = "position",
                         .schema = schema_reference("Count"),
                         .kind = "a position",
                         .allowed = "a whole number from 0",
                         .read = read_position},
                        {.name = "time",
                         .schema = R"({"type":"string","format":"date-time"})",
                         .kind = "a time",
                         .allowed = R"(like "2026-11-20T23:11:34Z")",
                         .read = read_time}}};
}

HttpResponse post_rewind(const RestCall& call) {
    ParameterReader reader(call);
    const bool is_confirmed = reader.flag("confirm");
    if (reader.failed()) {
        return reader.refusal();
    }
    uplink::RewindTarget target;
    if (const auto faults = read_body(call.request.body, rewind_body(target)); !faults.empty()) {
        return unprocessable(call.request, faults);
    }
    return run_command(call, "rewind", [target, is_confirmed](uplink::UplinkRunner& runner) {
        using Result = uplink::UplinkRunner::RewindResult;
        switch (runner.rewind(target, is_confirmed)) {
            case Result::no_log: return UplinkResult::no_log;
            case Result::not_delivered: return UplinkResult::not_delivered;
            case Result::stores_twice: return UplinkResult::stores_twice;
            case Result::done: break;
        }
        return UplinkResult::done;
    });
}

void list_quarantine(JsonObject& out, const std::vector<uplink::QuarantinedSample>& samples) {
    out.name_schema("UplinkQuarantine");
    out.array("samples", samples, [](JsonObject& each, const uplink::QuarantinedSample& sample) {
        each.name_schema("QuarantinedSample");
        each.add("topic", sample.topic);
        each.add("epoch", sample.message.epoch_ms);
        each.add("seq", sample.seq);
        each.add("time", to_iso8601(sample.utc_ns));
        each.add("refused_time", to_iso8601(sample.refused_utc_ns));
        each.add("reason", sample.reason);
        each.add("position", sample.message.position);
        each.add("bytes", sample.message.payload.size());
    });
}

HttpResponse get_quarantine(const RestCall& call) {
    const auto samples = std::make_shared<std::vector<uplink::QuarantinedSample>>();
    HttpResponse response = run_command(call, "quarantine", [samples](uplink::UplinkRunner& runner) {
        const auto& all = runner.quarantined();
        samples->assign(all.begin(), all.end());
        return UplinkResult::done;
    });
    return response.status == 200 ? json_response(list_quarantine, *samples) : std::move(response);
}

HttpResponse delete_quarantine(const RestCall& call) {
    return run_command(call, "clear quarantine", [](uplink::UplinkRunner& runner) {
        runner.clear_quarantine();
        return UplinkResult::done;
    });
}

HttpResponse post_retry(const RestCall& call) {
    return run_command(call, "retry quarantine", [](uplink::UplinkRunner& runner) {
        runner.retry_quarantined();
        return UplinkResult::done;
    });
}

/// A command that responds with the uplink.
constexpr RestRoute command(std::string_view method, std::string_view path, std::string_view summary,
                            HttpResponse (*answer)(const RestCall& call)) {
    return {.method = method,
            .path = path,
            .role = HttpRole::admin,
            .summary = summary,
            .parameters = uplink_name,
            .answer_members = members_of<list_uplink, UplinkReport>,
            .refusals = {404, 503},
            .answer = answer};
}

constexpr RestRoute rewind_route() {
    RestRoute route = command(
        "POST", "/uplinks/{name}/rewind",
        "Deliver again from a position of the log, or from a time. The position must be delivered.", post_rewind);
    route.parameters = rewind_parameters;
    route.body_schema = "UplinkRewind";
    route.describe_body = body_schema_of<rewind_body, uplink::RewindTarget>;
    route.refusals = {404, 409, 422, 503};
    return route;
}

constexpr std::array uplink_route_table{
    RestRoute{
        .path = "/uplinks",
        .summary = "The uplinks: their connections, how far they have delivered the durable log, and their ledgers.",
        .answer_members = members_of<list_uplinks, std::vector<UplinkReport>>,
        .answer = get_uplinks},
    RestRoute{.path = "/uplinks/{name}",
              .summary = "One uplink.",
              .parameters = uplink_name,
              .answer_members = members_of<list_uplink, UplinkReport>,
              .refusals = {404},
              .answer = get_uplink},
    command("POST", "/uplinks/{name}/pause", "Stop sending, until the uplink is resumed.", post_pause<true>),
    command("POST", "/uplinks/{name}/resume", "Continue sending.", post_pause<false>),
    rewind_route(),
    RestRoute{.path = "/uplinks/{name}/quarantine",
              .summary = "The samples that the back end has refused.",
              .parameters = uplink_name,
              .answer_members = members_of<list_quarantine, std::vector<uplink::QuarantinedSample>>,
              .refusals = {404, 503},
              .answer = get_quarantine},
    command("DELETE", "/uplinks/{name}/quarantine", "Remove all samples from the quarantine.", delete_quarantine),
    command("POST", "/uplinks/{name}/quarantine/retry", "Send the quarantined samples again.", post_retry),
};

}  // namespace

constinit const std::span<const RestRoute> uplink_routes = uplink_route_table;

}  // namespace telegate
