#include "metrics/metrics_table.hpp"

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
    MetricRow{{"telegate_services_requests", MetricType::counter, "", "Valid requests."}, "service",
              [](Source s, Text t) { add_each<ServiceKind>(t, "service", s.snapshot.services.requests); }},
    MetricRow{{"telegate_services_errors", MetricType::counter, "", "Error replies."}, "code",
              [](Source s, Text t) { add_each<ServiceError>(t, "code", s.snapshot.services.errors); }},
    MetricRow{{"telegate_services_peers", MetricType::gauge, "", "Connected DEALER and REQ sockets."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.services.peers}); }},
    MetricRow{{"telegate_services_replays_active", MetricType::gauge, "", "Active replays."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.services.replays_active}); }},
    MetricRow{{"telegate_services_replayed_samples", MetricType::counter, "",
               "Samples in replies to replay requests."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.services.samples_replayed); }},
    MetricRow{{"telegate_services_replies_lost", MetricType::counter, "",
               "Requests without a reply because the peer had disconnected or memory was exhausted."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.services.replies_lost); }},
    MetricRow{{"telegate_services_replies_dropped", MetricType::counter, "",
               "Replies that were still waiting to be read when the connection closed."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.services.totals.dropped); }},
    MetricRow{{"telegate_services_backlog_bytes", MetricType::gauge, "bytes",
               "Bytes of replies waiting to be read."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.services.backlog_bytes}); }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> services_metrics() noexcept {
    return services_rows;
}

}  // namespace telegate
