#include "metrics/metrics_table.hpp"
#include "rest/rest_handlers.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <string>

namespace telegate {
namespace {

constexpr std::array<std::string_view, 2> gives_metrics{"text/plain; version=0.0.4; charset=utf-8",
                                                        "application/openmetrics-text; version=1.0.0; charset=utf-8"};

HttpResponse get_metrics(const RestCall& call) {
    const std::optional<StatusSnapshot> snapshot = call.handlers.snapshot();
    if (!snapshot) {
        return unavailable(call.request, "the gateway did not provide its metrics in time");
    }
    const bool open = call.media_type == gives_metrics[1];
    const RestHandlers& from = call.handlers;
    const MetricsSource source{.snapshot = *snapshot,
                               .health = from.health(),
                               .process = process_figures(),
                               .alarms = from.alarms->all(),
                               .events = from.events->counts(),
                               .history = from.history,
                               .requests = from.traffic->counts(),
                               .streams = from.streams->count(),
                               .http = from.http()};
    return {200,
            std::string(call.media_type),
            metrics_text(source, open ? MetricFormat::open_metrics : MetricFormat::prometheus),
            {}};
}

constexpr std::array metrics_route_table{
    RestRoute{.path = "/metrics",
              .summary = "Metrics in the text format of Prometheus or OpenMetrics.",
              .gives = gives_metrics,
              .refusals = {503},
              .answer = get_metrics},
};

}  // namespace

constinit const std::span<const RestRoute> metrics_routes = metrics_route_table;

}  // namespace telegate
