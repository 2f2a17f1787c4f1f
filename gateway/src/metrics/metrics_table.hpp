#pragma once

#include "events/alarms.hpp"
#include "events/events.hpp"
#include "http/http_budget.hpp"
#include "line/history.hpp"
#include "metrics/metric_text.hpp"
#include "status/health.hpp"
#include "status/process_figures.hpp"
#include "status/status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Requests to a REST path that were answered with a status.
struct RequestCount {
    std::string_view path;  // as in the table; "other" for unknown paths
    int status = 0;
    std::uint64_t requests = 0;
};

/// The data for the metrics, collected for one scrape.
struct MetricsSource {
    const StatusSnapshot& snapshot;
    Health health;
    ProcessFigures process;
    std::vector<ChannelAlarm> alarms;
    const EventLog& events;
    const History& history;
    std::vector<RequestCount> requests;
    std::size_t streams = 0;
    HttpFigures http;
};

/// A metric: its description, and how its samples are collected.
struct MetricRow {
    using Add = void (*)(const MetricsSource& source, MetricText& text);
    MetricName metric;
    std::string_view labels;  // "device, reason"
    Add add = nullptr;
};

constexpr MetricRow counter(std::string_view name, std::string_view labels, std::string_view help, MetricRow::Add add) {
    return {{name, MetricType::counter, help}, labels, add};
}
constexpr MetricRow gauge(std::string_view name, std::string_view labels, std::string_view help, MetricRow::Add add) {
    return {{name, MetricType::gauge, help}, labels, add};
}
/// Returns the function of a metric with one sample, of the value that `get(source)` returns.
template <class Get>
constexpr MetricRow::Add one(Get /*get*/) {
    return [](const MetricsSource& source, MetricText& text) {
        text.add({}, Get{}(source));
    };
}

/// Maximum number of channels whose last value is a series; the others are counted as omitted. Prometheus keeps every
/// combination of labels that it has ever seen.
inline constexpr std::size_t metric_channels_max = 1'000;

/// The rows, by subject.
extern const std::span<const MetricRow> line_metrics;
extern const std::span<const MetricRow> transport_metrics;
extern const std::span<const MetricRow> service_metrics;
extern const std::span<const MetricRow> storage_metrics;
extern const std::span<const MetricRow> alarm_metrics;

/// Returns all rows, in order. Threads: any.
[[nodiscard]] std::vector<const MetricRow*> metrics_table();
[[nodiscard]] std::string metrics_text(const MetricsSource& source, MetricFormat format);

}  // namespace telegate
