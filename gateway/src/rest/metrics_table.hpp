#pragma once

#include "rest/metric_text.hpp"
#include "rest/rest_handlers.hpp"
#include "status/process_figures.hpp"
#include "status/status.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The data for the metrics, collected for one scrape.
struct MetricsSource {
    const StatusSnapshot& snapshot;
    const RestHandlers& handlers;
    Health health;
    ProcessFigures process;
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
[[nodiscard]] std::span<const MetricRow> alarm_metrics() noexcept;

/// Returns all rows, in order. Threads: any.
[[nodiscard]] std::vector<const MetricRow*> metrics_table();
[[nodiscard]] std::string metrics_text(const MetricsSource& source, MetricFormat format);

}  // namespace telegate
