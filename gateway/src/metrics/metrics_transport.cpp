#include "base/readable_bytes.hpp"
#include "encode/time_text.hpp"
#include "metrics/metrics_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

void add_total(Source source, Text text, std::uint64_t PublisherTotals::*count) {
    for (const FormatTotals& totals : source.snapshot.formats) {
        text.add({{"format", to_string(totals.format)}}, totals.*count);
    }
}

/// Adds the losses by reason; their sum is the number of dropped messages.
void add_losses(Source source, Text text) {
    for (const FormatTotals& totals : source.snapshot.formats) {
        for (std::size_t reason = 0; reason < loss_reasons; ++reason) {
            text.add({{"format", to_string(totals.format)}, {"reason", to_string(static_cast<LossReason>(reason))}},
                     totals.lost[reason]);
        }
    }
}

using Group = std::pair<std::string, PayloadFormat>;

/// Adds a figure that combines the subscribers of each endpoint; 0 if there are none. Individual subscribers are in GET
/// /subscribers: as metrics, each reconnect would create a series that Prometheus keeps.
template <class Figure>
void add_by_endpoint(Source source, Text text, Figure (*add)(Figure, const SubscriberStatus&)) {
    std::map<Group, Figure> figures;
    for (const EndpointStatus& endpoint : source.snapshot.endpoints) {
        figures[{endpoint.endpoint, endpoint.format}] = Figure{};
    }
    for (const SubscriberStatus& subscriber : source.snapshot.subscribers) {
        Figure& figure = figures[{std::string(subscriber.endpoint), subscriber.format}];
        figure = add(figure, subscriber);
    }
    for (const auto& [group, figure] : figures) {
        text.add({{"endpoint", group.first}, {"format", to_string(group.second)}}, figure);
    }
}

/// Adds counts by CURVE client, named like its key file, so there are at most as many series as key files.
void add_by_client(Source source, Text text) {
    std::map<std::pair<Group, std::string>, std::uint64_t> clients;
    for (const SubscriberStatus& subscriber : source.snapshot.subscribers) {
        if (!subscriber.curve_name.empty()) {
            ++clients[{{subscriber.endpoint, subscriber.format}, to_readable(subscriber.curve_name)}];
        }
    }
    for (const auto& [client, connections] : clients) {
        text.add(
            {{"endpoint", client.first.first}, {"format", to_string(client.first.second)}, {"client", client.second}},
            connections);
    }
}

using T = PublisherTotals;
using P = SubscriberStatus;
using Count = std::uint64_t;

constexpr std::string_view endpoint_labels = "endpoint, format";

// clang-format off
constexpr std::array transport_rows{
    MetricRow{{"telegate_publisher_messages", MetricType::counter, "",
               "Published messages, counted once per format, including messages without subscribers."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::messages); }},
    MetricRow{{"telegate_publisher_matched", MetricType::counter, "",
               "Messages for subscribers, counted once per matching subscriber."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::matched); }},
    MetricRow{{"telegate_publisher_sent", MetricType::counter, "",
               "Messages handed to the kernel completely."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::sent); }},
    MetricRow{{"telegate_publisher_dropped", MetricType::counter, "",
               "Messages dropped because a subscriber was too slow or had disconnected."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::dropped); }},
    MetricRow{{"telegate_publisher_lost", MetricType::counter, "",
               "Messages dropped, by reason: slow, expired, conflated or disconnected."}, "format, reason", add_losses},
    MetricRow{{"telegate_publisher_pending", MetricType::gauge, "",
               "Messages waiting to be sent to subscribers."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::pending); }},
    MetricRow{{"telegate_publisher_sent_bytes", MetricType::counter, "bytes", "Bytes sent to subscribers."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::bytes_sent); }},
    MetricRow{{"telegate_publisher_received_bytes", MetricType::counter, "bytes",
               "Bytes received from subscribers."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::bytes_received); }},
    MetricRow{{"telegate_publisher_connections_accepted", MetricType::counter, "", "Accepted connections."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::connections_accepted); }},
    MetricRow{{"telegate_publisher_connections_refused", MetricType::counter, "",
               "Connections refused because there were too many."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::connections_refused); }},
    MetricRow{{"telegate_publisher_accept_errors", MetricType::counter, "",
               "Failed attempts to accept a connection."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::accept_errors); }},
    MetricRow{{"telegate_publisher_handshakes_failed", MetricType::counter, "",
               "Connections whose handshake failed."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::handshakes_failed); }},
    MetricRow{{"telegate_publisher_violations", MetricType::counter, "",
               "Connections closed because the peer violated the protocol."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::violations); }},
    MetricRow{{"telegate_publisher_heartbeat_timeouts", MetricType::counter, "",
               "Connections closed because the peer timed out."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::heartbeat_timeouts); }},
    MetricRow{{"telegate_publisher_subscriptions_refused", MetricType::counter, "",
               "Subscriptions refused because they were too long or too many."}, "format",
              [](Source s, Text t) { add_total(s, t, &T::subscriptions_refused); }},
    MetricRow{{"telegate_publisher_subscriptions", MetricType::gauge, "", "Subscriptions of all subscribers."}, "",
              [](Source s, Text t) { t.add({}, Count{s.snapshot.publisher.subscriptions}); }},
    MetricRow{{"telegate_subscribers", MetricType::gauge, "", "Connected subscribers."}, endpoint_labels,
              [](Source s, Text t) { add_by_endpoint<Count>(s, t, [](Count n, const P&) { return n + 1; }); }},
    MetricRow{{"telegate_subscribers_by_client", MetricType::gauge, "",
               "Connected subscribers by CURVE client: NAME of its key file NAME.public. Clients without a "
               "connection are omitted."},
              "endpoint, format, client", add_by_client},
    MetricRow{{"telegate_subscribers_gap_overflows", MetricType::counter, "",
               "Subscribers closed because they had too many gaps to report."}, "",
              [](Source s, Text t) { t.add({}, s.snapshot.gap_overflows); }},
    MetricRow{{"telegate_subscribers_blocking", MetricType::gauge, "",
               "Blocking subscribers that publishing is waiting for."}, endpoint_labels,
              [](Source s, Text t) { add_by_endpoint<Count>(s, t, [](Count n, const P& p) { return n + (p.blocking ? 1 : 0); }); }},
    MetricRow{{"telegate_subscribers_backlog_bytes", MetricType::gauge, "bytes",
               "Bytes waiting to be sent to all subscribers."}, endpoint_labels,
              [](Source s, Text t) { add_by_endpoint<Count>(s, t, [](Count n, const P& p) { return n + p.backlog_bytes; }); }},
    MetricRow{{"telegate_subscriber_backlog_max_bytes", MetricType::gauge, "bytes",
               "Bytes waiting to be sent to the slowest subscriber; see GET /subscribers."}, endpoint_labels,
              [](Source s, Text t) {
                  add_by_endpoint<Count>(s, t, [](Count n, const P& p) { return std::max<Count>(n, p.backlog_bytes); });
              }},
    MetricRow{{"telegate_subscriber_idle_max_seconds", MetricType::gauge, "seconds",
               "Longest time without data from a subscriber."}, endpoint_labels,
              [](Source s, Text t) {
                  add_by_endpoint<double>(s, t, [](double n, const P& p) { return std::max(n, to_seconds(p.silent)); });
              }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> transport_metrics() noexcept {
    return transport_rows;
}

}  // namespace telegate
