#include "metrics_page.hpp"

#include "metrics/metrics_table.hpp"

#include <utility>

namespace telegate::reference {

std::string with_metrics(std::string page) {
    std::string text = std::move(page);
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

}  // namespace telegate::reference
