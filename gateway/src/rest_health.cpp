#include "problem.hpp"
#include "rest_refusals.hpp"
#include "rest_route.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::array not_well{503};
constexpr std::array verbose{
    RestParameter{.name = "verbose", .schema = R"({"type":"string"})", .meaning = "Lists every check, as text."}};

std::string checks_text(const Health& health) {
    std::string text;
    for (const HealthCheck& check : health.checks) {
        text += (check.good ? "[+] " : "[-] ") + std::string(check.name) +
                (check.good ? " ok" : " failed: " + check.detail) + '\n';
    }
    return text;
}

std::string failed_text(const Health& health, bool only_vital) {
    std::string text;
    for (const HealthCheck& check : health.checks) {
        if (!check.good && (check.vital || !only_vital)) {
            text += (text.empty() ? "" : "; ") + std::string(check.name) + ": " + check.detail;
        }
    }
    return text;
}

HttpResponse answer_health(const RestCall& call, bool only_vital) {
    const Health health = call.handlers.health();
    const bool good = only_vital ? health.alive() : health.ready();
    if (!good && !call.query.has("verbose")) {
        return unavailable(call.request, failed_text(health, only_vital));
    }
    HttpResponse response{good ? 200 : 503, std::string(call.media_type), "", {}};
    response.body = (call.query.has("verbose") ? checks_text(health) : "") + (good ? "ok\n" : "failed\n");
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
            .parameters = verbose,
            .gives = gives_text,
            .refusals = not_well,
            .answer = answer};
}

constexpr std::array health_route_table{
    health_route("/livez", "Whether the process works, and a restart would not help.", get_alive),
    health_route("/readyz", "Whether everything works that the settings ask for.", get_ready),
    health_route("/healthz", "The same as /readyz.", get_ready),
    health_route("/-/healthy", "The same as /livez.", get_alive),
    health_route("/-/ready", "The same as /readyz.", get_ready),
};

}  // namespace

bool is_health_path(std::string_view path) noexcept {
    return std::any_of(health_route_table.begin(), health_route_table.end(),
                       [path](const RestRoute& route) { return route.path == path; });
}

std::span<const RestRoute> health_routes() noexcept {
    return health_route_table;
}

}  // namespace telegate
