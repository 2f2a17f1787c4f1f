#pragma once

#include "base/metric_text.hpp"
#include "events/alarms.hpp"
#include "events/events.hpp"
#include "http/http_budget.hpp"
#include "line/history.hpp"
#include "status/health.hpp"
#include "status/process_figures.hpp"
#include "status/status.hpp"

#include <cstddef>
#include <cstdint>
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
    Health health = {};
    ProcessFigures process = {};
    std::vector<ChannelAlarm> alarms = {};
    EventCounts events = {};
    const History* history = nullptr;
    std::vector<RequestCount> requests = {};
    std::size_t streams = 0;
    HttpFigures http = {};
};

/// Maximum number of channels whose last value is a series; the others are counted as omitted. Prometheus keeps every
/// combination of labels that it has ever seen.
inline constexpr std::size_t metric_channels_max = 1'000;

/// Returns all metrics, in order, without samples: first those of GET /status, which list_status() names. Threads: any.
[[nodiscard]] const std::vector<MetricFamily>& metrics_table();
[[nodiscard]] std::string metrics_text(const MetricsSource& source, MetricFormat format);

}  // namespace telegate
