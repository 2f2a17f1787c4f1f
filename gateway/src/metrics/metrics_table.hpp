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
#include <optional>
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

/// The data for the metrics, collected for one scrape. Metrics whose source is null or missing have no samples.
struct MetricsSource {
    const StatusSnapshot& snapshot;
    Health health;
    ProcessFigures process;
    std::vector<ChannelAlarm> alarms = {};
    const EventLog* events = nullptr;
    const History* history = nullptr;
    std::vector<RequestCount> requests = {};
    std::optional<std::size_t> streams = {};
    std::optional<HttpFigures> http = {};
};

/// A metric: its description, and how its samples are collected.
struct MetricRow {
    MetricName metric;
    std::string_view labels = {};  // "device, reason"
    void (*add)(const MetricsSource& source, MetricText& text) = nullptr;
};

/// Maximum number of channels whose last value is a series; the others are counted as omitted. Prometheus keeps every
/// combination of labels that it has ever seen.
inline constexpr std::size_t metric_channels_max = 1'000;

/// The rows, by subject.
[[nodiscard]] std::span<const MetricRow> line_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> transport_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> services_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> service_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> clock_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> recorder_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> log_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> uplink_metrics() noexcept;
[[nodiscard]] std::span<const MetricRow> alarm_metrics() noexcept;

/// Returns all rows, in order. Threads: any.
[[nodiscard]] std::vector<const MetricRow*> metrics_table();
[[nodiscard]] std::string metrics_text(const MetricsSource& source, MetricFormat format);

}  // namespace telegate
