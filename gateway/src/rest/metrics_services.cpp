#include "rest/metrics_table.hpp"

#include <array>
#include <cstddef>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;
using Count = std::uint64_t;

template <class Kind, std::size_t size>
void add_each(Text text, const char* label, const std::array<Count, size>& counts) {
    for (std::size_t i = 0; i < size; ++i) {
        text.add({{label, to_string(static_cast<Kind>(i))}}, counts[i]);
    }
}

// clang-format off
constexpr std::array services_rows{
    MetricRow{{"telegate_services_requests", MetricType::counter, "", "Requests that were understood."}, "service",
              [](Source s, Text t) { add_each<ServiceKind>(t, "service", s.snapshot.services.requests); }},
    MetricRow{{"telegate_services_errors", MetricType::counter, "", "Answers that told an error."}, "code",
              [](Source s, Text t) { add_each<ServiceError>(t, "code", s.snapshot.services.errors); }},
    MetricRow{{"telegate_services_peers", MetricType::gauge, "", "DEALER and REQ sockets that are connected."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.services.peers}); }},
    MetricRow{{"telegate_services_replays", MetricType::gauge, "", "Replays at work."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.services.replays_at_work}); }},
    MetricRow{{"telegate_services_replayed_samples", MetricType::counter, "", "Samples in answers to replays."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.services.samples_replayed); }},
    MetricRow{{"telegate_services_lost_answers", MetricType::counter, "",
               "Requests without an answer, since who had asked was gone."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.services.answers_lost); }},
    MetricRow{{"telegate_services_dropped_answers", MetricType::counter, "",
               "Answers that waited to be read when the connection ended."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.services.totals.dropped); }},
    MetricRow{{"telegate_services_backlog_bytes", MetricType::gauge, "bytes", "Answers that wait to be read."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.services.backlog_bytes}); }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> services_metrics() noexcept {
    return services_rows;
}

}  // namespace telegate
