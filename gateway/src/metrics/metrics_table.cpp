#include "metrics/metrics_table.hpp"

#include <utility>

namespace telegate {

std::vector<const MetricRow*> metrics_table() {
    std::vector<const MetricRow*> table;
    for (const auto rows : {line_metrics, transport_metrics, service_metrics, storage_metrics, alarm_metrics}) {
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

}  // namespace telegate
