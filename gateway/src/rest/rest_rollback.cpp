#include "encode/time_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_report.hpp"
#include "rest/rest_route.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate {
namespace {

constexpr std::uint64_t generation_max = 9'007'199'254'740'992;

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

void list_confirmed(JsonObject& out, std::uint64_t generation) {
    out.name_schema("Confirmed");
    out.add("confirmed", Described{generation, schema_from_1});
}

HttpResponse get_generations(const RestCall& call) {
    return json_response(list_generations, call.handlers.config.generations());
}

HttpResponse not_kept(const RestCall& call, std::optional<std::uint64_t> wanted) {
    const std::vector<ConfigGeneration> kept = call.handlers.config.generations();
    const std::string text = wanted ? "there is no generation " + std::to_string(*wanted)
                                    : "there is no generation before " + std::to_string(kept.back().number);
    return refused(call.request, 404,
                   text + "; kept: " + std::to_string(kept.front().number) + " to " +
                       std::to_string(kept.back().number) + ", see GET /config/generations");
}

HttpResponse post_rollback(const RestCall& call) {
    ParameterReader reader(call);
    const bool dry_run = reader.flag("dry_run");
    const std::optional<std::uint64_t> generation = reader.number("generation", {1, generation_max});
    if (reader.failed()) {
        return reader.refusal();
    }
    const auto report = call.handlers.config.rollback(generation, dry_run, who_of(call.request));
    return report ? answer_report(call.request, *report, dry_run) : not_kept(call, generation);
}

HttpResponse post_confirm(const RestCall& call) {
    const std::optional<std::uint64_t> generation = call.handlers.config.confirm(who_of(call.request));
    if (!generation) {
        return refused(call.request, 409,
                       "there are no settings to confirm: use PUT or PATCH /config with revert_after first");
    }
    HttpResponse response = json_response(list_confirmed, *generation);
    response.log_note.add("generation", *generation);
    return response;
}

constexpr std::array rollback_parameters{
    RestParameter{.name = "generation",
                  .schema = R"({"type": "integer", "minimum": 1, "maximum": 9007199254740992})",
                  .meaning = "Generation to restore; by default the one before the one in force."},
    dry_run_parameter,
};
constexpr std::array refused_rollback{404, 409, 503};
constexpr std::array nothing_to_confirm{409};

constexpr std::array rollback_route_table{
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
              .refusals = refused_rollback,
              .answer = post_rollback},
    RestRoute{.method = "POST",
              .path = "/config/confirm",
              .role = HttpRole::admin,
              .summary = "Confirm settings that would otherwise be reverted.",
              .answer_members = members_of<list_confirmed, std::uint64_t>,
              .refusals = nothing_to_confirm,
              .answer = post_confirm},
};

}  // namespace

std::span<const RestRoute> rollback_routes() noexcept {
    return rollback_route_table;
}

}  // namespace telegate
