#include "config/joined.hpp"
#include "http/problem.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t check_names_max = 32;  // more than the number of checks, per request
constexpr std::size_t check_name_characters_max = 64;
constexpr std::string_view check_names_schema = R"({"type":"array","maxItems":32})";
constexpr std::array health_parameters{
    RestParameter{.name = "verbose", .schema = R"({"type":"string"})", .meaning = "Lists all checks as text."},
    RestParameter{.name = "exclude",
                  .schema = check_names_schema,
                  .item_names = health_check_names,
                  .meaning = "A check whose failure is ignored. May be repeated."},
    RestParameter{.name = "include",
                  .schema = check_names_schema,
                  .item_names = health_check_names,
                  .meaning = "A check whose failure counts even if it is a warning by default. May be repeated."},
};

/// The effect of a failed check on a response.
enum class Weight : std::uint8_t { counts, warns, excluded };

struct WeighedCheck {
    const HealthCheck& check;
    Weight weight;

    [[nodiscard]] bool fails() const noexcept { return !check.good && weight == Weight::counts; }
};
using WeighedChecks = std::vector<WeighedCheck>;

bool names_check(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Reports names of checks that do not exist.
void refuse_unknown(ParameterReader& reader, std::string_view parameter, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) {
        if (std::find(health_check_names.begin(), health_check_names.end(), name) == health_check_names.end()) {
            reader.fault(parameter,
                         "unknown check " + quoted_text(name) + ": must be one of " + joined(health_check_names));
        }
    }
}

WeighedChecks weigh(ParameterReader& reader, const Health& health, bool only_vital) {
    const std::vector<std::string_view> excluded = reader.texts("exclude", check_names_max, check_name_characters_max);
    const std::vector<std::string_view> included = reader.texts("include", check_names_max, check_name_characters_max);
    refuse_unknown(reader, "exclude", excluded);
    refuse_unknown(reader, "include", included);
    WeighedChecks checks;
    for (const HealthCheck& check : health.checks) {
        const bool counts = names_check(included, check.name) || (only_vital ? check.vital : !check.is_warning);
        checks.push_back({check, names_check(excluded, check.name) ? Weight::excluded
                                 : counts                          ? Weight::counts
                                                                   : Weight::warns});
    }
    return checks;
}

std::string checks_text(const WeighedChecks& checks) {
    std::string text;
    for (const auto& [check, weight] : checks) {
        const bool warns = !check.good && weight == Weight::warns;
        text += (check.good ? "[+] "
                 : warns    ? "[!] "
                            : "[-] ") +
                std::string(check.name) + (weight == Weight::excluded ? " excluded:" : "") +
                (check.good ? " ok" : (warns ? " warning: " : " failed: ") + check.detail) + '\n';
    }
    return text;
}

std::string failed_text(const WeighedChecks& checks) {
    std::string text;
    for (const WeighedCheck& each : checks) {
        if (each.fails()) {
            text += (text.empty() ? "" : "; ") + std::string(each.check.name) + ": " + each.check.detail;
        }
    }
    return text;
}

HttpResponse answer_health(const RestCall& call, bool only_vital) {
    const Health health = call.handlers.health();
    ParameterReader reader(call);
    const WeighedChecks checks = weigh(reader, health, only_vital);
    if (reader.failed()) {
        return reader.refusal();
    }
    const bool good = std::none_of(checks.begin(), checks.end(), [](const auto& each) { return each.fails(); });
    if (!good && !call.query.has("verbose")) {
        return unavailable(call.request, failed_text(checks));
    }
    HttpResponse response{good ? 200 : 503, std::string(call.media_type), "", {}};
    response.body = (call.query.has("verbose") ? checks_text(checks) : "") + (good ? "ok\n" : "failed\n");
    if (!good) {
        response.headers.emplace_back("Retry-After", "1");
    }
    return response;
}

HttpResponse get_alive(const RestCall& call) {
    return answer_health(call, true);
}

HttpResponse get_ready(const RestCall& call) {
    return answer_health(call, false);
}

constexpr RestRoute health_route(std::string_view path, std::string_view summary,
                                 HttpResponse (*answer)(const RestCall&)) {
    return {.path = path,
            .role = HttpRole::none,
            .summary = summary,
            .parameters = health_parameters,
            .gives = gives_text,
            .refusals = {503},
            .answer = answer};
}

constexpr std::array health_route_table{
    health_route("/livez", "Liveness: 503 means that the process requires a restart.", get_alive),
    health_route("/readyz", "Readiness: whether the gateway can serve; failing devices are only warnings.", get_ready),
    health_route("/healthz", "The same as /readyz.", get_ready),
    health_route("/-/healthy", "The same as /livez.", get_alive),
    health_route("/-/ready", "The same as /readyz.", get_ready),
};

}  // namespace

bool is_health_path(std::string_view path) noexcept {
    return std::any_of(health_route_table.begin(), health_route_table.end(),
                       [path](const RestRoute& route) { return route.path == path; });
}

constinit const std::span<const RestRoute> health_routes = health_route_table;

}  // namespace telegate
