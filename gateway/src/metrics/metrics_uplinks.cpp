#include "metrics/metrics_table.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

template <class Value>
void add_uplinks(Source source, Text text, const Value& value) {
    for (const UplinkReport& uplink : source.snapshot.uplinks) {
        text.add({{"uplink", uplink.name}}, value(uplink));
    }
}

// clang-format off
constexpr std::array uplink_metric_rows{
    MetricRow{{"telegate_uplink_connected", MetricType::gauge, "",
               "1 if the uplink is connected, 0 otherwise."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return std::uint64_t{u.status.is_connected}; }); }},
    MetricRow{{"telegate_uplink_lag_seconds", MetricType::gauge, "seconds",
               "Age of the newest sample before which everything is delivered; 0 if nothing waits."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return std::chrono::duration<double>(u.lag).count(); }); }},
    MetricRow{{"telegate_uplink_samples", MetricType::counter, "",
               "Samples read from the durable log for the uplink."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.ledger.read; }); }},
    MetricRow{{"telegate_uplink_samples_acknowledged", MetricType::counter, "",
               "Samples that the back end has acknowledged."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.ledger.acknowledged; }); }},
    MetricRow{{"telegate_uplink_samples_in_flight", MetricType::gauge, "",
               "Samples read and not yet counted otherwise."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.ledger.in_flight; }); }},
    MetricRow{{"telegate_uplink_samples_quarantined", MetricType::counter, "",
               "Samples that the back end has refused, and that were delivered as missing."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.ledger.quarantined; }); }},
    MetricRow{{"telegate_uplink_samples_missing", MetricType::counter, "",
               "Samples that delivered gap notices name as missing for other reasons."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.ledger.gaps; }); }},
    MetricRow{{"telegate_uplink_samples_returned", MetricType::counter, "",
               "Samples that are read again, after a refusal or a rewind."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.ledger.returned; }); }},
    MetricRow{{"telegate_uplink_quarantine_samples", MetricType::gauge, "",
               "Samples in the quarantine."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return std::uint64_t{u.status.quarantined}; }); }},
    MetricRow{{"telegate_uplink_paused", MetricType::gauge, "",
               "1 if the uplink is paused, 0 otherwise."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return std::uint64_t{u.status.is_paused}; }); }},
    MetricRow{{"telegate_uplink_lag_samples", MetricType::gauge, "",
               "Samples and gaps of the durable log that are not delivered, of all channels."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.lag; }); }},
    MetricRow{{"telegate_uplink_backlog_samples", MetricType::gauge, "",
               "Of telegate_uplink_lag_samples, those that are delivered after new samples."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.backlog; }); }},
    MetricRow{{"telegate_uplink_catch_up_seconds", MetricType::gauge, "seconds",
               "Estimated time until everything is delivered; +Inf if the log grows faster."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.catch_up_time ? static_cast<double>(u.status.catch_up_time->count()) : std::numeric_limits<double>::infinity(); }); }},
    MetricRow{{"telegate_uplink_round_trip_seconds", MetricType::gauge, "seconds",
               "Average time between a message and its acknowledgment."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return std::chrono::duration<double>(u.status.round_trip).count(); }); }},
    MetricRow{{"telegate_uplink_messages_sent", MetricType::counter, "",
               "Messages sent to the back end, including repeated ones."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.counts.sent; }); }},
    MetricRow{{"telegate_uplink_messages_resent", MetricType::counter, "",
               "Messages sent again because they were not acknowledged."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.counts.resent; }); }},
    MetricRow{{"telegate_uplink_messages_refused", MetricType::counter, "",
               "Messages that the back end did not store, and that are sent again."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.counts.refused; }); }},
    MetricRow{{"telegate_uplink_connections", MetricType::counter, "",
               "Connections opened to the back end."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.connections; }); }},
    MetricRow{{"telegate_uplink_losses", MetricType::counter, "",
               "Times that the back end had lost acknowledged messages, which were then sent again."}, "uplink",
              [](Source s, Text t) { add_uplinks(s, t, [](const UplinkReport& u) { return u.status.losses; }); }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> uplink_metrics() noexcept {
    return uplink_metric_rows;
}

}  // namespace telegate
