#include "rest/metrics_table.hpp"

#include <utility>

namespace telegate {

std::vector<const MetricRow*> metrics_table() {
    std::vector<const MetricRow*> table;
    for (const auto rows : {line_metrics(), transport_metrics(), services_metrics(), service_metrics(), clock_metrics(),
                            recorder_metrics(), alarm_metrics()}) {
        for (const MetricRow& row : rows) {
            table.push_back(&row);
        }
    }
    return table;
}

std::string metrics_text(const MetricsSource& source, MetricFormat format) {
    MetricText text(format);
    for (const MetricRow* row : metrics_table()) {
        text.begin(row->metric);
        row->add(source, text);
    }
    return std::move(text).finish();
}

std::string metrics_page() {
    std::string text =
        "# Metrics\n"
        "\n"
        "`GET /metrics` on the address of REST gives these figures: in Prometheus' text format 0.0.4, or as "
        "OpenMetrics 1.0.0\n"
        "to a client that prefers `application/openmetrics-text` in its `Accept` field. This page is made from the "
        "table in\n"
        "`gateway/src/rest/metrics_*.cpp`; a test keeps names, types and meanings as they are.\n"
        "\n"
        "```yaml\n"
        "scrape_configs:\n"
        "  - job_name: telegate\n"
        "    static_configs:\n"
        "      - targets: [127.0.0.1:8080]\n"
        "```\n"
        "\n"
        "Counters count from the start of the gateway. All figures of one scrape are from one moment. "
        "[packaging/](../packaging)\n"
        "has a Grafana dashboard and alert rules that use them.\n"
        "\n"
        "Labels have an end, however long the gateway runs: devices, channels and endpoints are those of the settings, "
        "paths\n"
        "those of the interface. What is counted for subscribers is counted by format and never falls, whoever leaves; "
        "single\n"
        "subscribers are in `GET /subscribers`. The first 1000 channels that have a number as their last value show "
        "it; "
        "how many\n"
        "more there are is a metric too.\n"
        "\n"
        "| metric | type | unit | labels | meaning |\n"
        "|---|---|---|---|---|\n";
    for (const MetricRow* row : metrics_table()) {
        const MetricName& metric = row->metric;
        const char* const ending = metric.type == MetricType::counter ? "_total"
                                   : metric.type == MetricType::info  ? "_info"
                                                                      : "";
        text += "| `" + std::string(metric.name) + ending + "` | " + std::string(to_string(metric.type)) + " | " +
                std::string(metric.unit) + " | " + std::string(row->labels) + " | " + std::string(metric.help) + " |\n";
    }
    return text;
}

}  // namespace telegate
