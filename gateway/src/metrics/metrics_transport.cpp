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

template <class Get>
constexpr MetricRow::Add each_format(Get /*get*/) {
    return [](Source source, Text text) {
        for (const FormatTotals& totals : source.snapshot.formats) {
            text.add({{"format", to_string(totals.format)}}, Get{}(totals));
        }
    };
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

using P = SubscriberStatus;
using Count = std::uint64_t;
using Group = std::pair<std::string, PayloadFormat>;

/// Returns the function of a metric that combines the subscribers of each endpoint; 0 if there are none. Individual
/// subscribers are in GET /subscribers: as metrics, each reconnect would create a series that Prometheus keeps.
template <class Figure, class Add>
constexpr MetricRow::Add each_endpoint(Add /*add*/) {
    return [](Source source, Text text) {
        std::map<Group, Figure> figures;
        for (const EndpointStatus& endpoint : source.snapshot.endpoints) {
            figures[{endpoint.endpoint, endpoint.format}] = Figure{};
        }
        for (const SubscriberStatus& subscriber : source.snapshot.subscribers) {
            Figure& figure = figures[{std::string(subscriber.endpoint), subscriber.format}];
            figure = Add{}(figure, subscriber);
        }
        for (const auto& [group, figure] : figures) {
            text.add({{"endpoint", group.first}, {"format", to_string(group.second)}}, figure);
        }
    };
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

template <class Kind, std::size_t size>
void add_each(Text text, const char* label, const std::array<Count, size>& counts) {
    for (std::size_t i = 0; i < size; ++i) {
        text.add({{label, to_string(static_cast<Kind>(i))}}, counts[i]);
    }
}

constexpr std::string_view endpoint_labels = "endpoint, format";

constexpr std::array transport_rows{
    counter("telegate_publisher_messages", "format",
            "Published messages, counted once per format, including messages without subscribers.",
            each_format([](const FormatTotals& f) { return f.messages; })),
    counter("telegate_publisher_matched", "format", "Messages for subscribers, counted once per matching subscriber.",
            each_format([](const FormatTotals& f) { return f.matched; })),
    counter("telegate_publisher_sent", "format", "Messages handed to the kernel completely.",
            each_format([](const FormatTotals& f) { return f.sent; })),
    counter("telegate_publisher_dropped", "format",
            "Messages dropped because a subscriber was too slow or had disconnected.",
            each_format([](const FormatTotals& f) { return f.dropped; })),
    counter("telegate_publisher_lost", "format, reason",
            "Messages dropped, by reason: slow, expired, conflated or disconnected.", add_losses),
    gauge("telegate_publisher_pending", "format", "Messages waiting to be sent to subscribers.",
          each_format([](const FormatTotals& f) { return f.pending; })),
    counter("telegate_publisher_sent_bytes", "format", "Bytes sent to subscribers.",
            each_format([](const FormatTotals& f) { return f.bytes_sent; })),
    counter("telegate_publisher_received_bytes", "format", "Bytes received from subscribers.",
            each_format([](const FormatTotals& f) { return f.bytes_received; })),
    counter("telegate_publisher_connections_accepted", "format", "Accepted connections.",
            each_format([](const FormatTotals& f) { return f.connections_accepted; })),
    counter("telegate_publisher_connections_refused", "format", "Connections refused because there were too many.",
            each_format([](const FormatTotals& f) { return f.connections_refused; })),
    counter("telegate_publisher_accept_errors", "format", "Failed attempts to accept a connection.",
            each_format([](const FormatTotals& f) { return f.accept_errors; })),
    counter("telegate_publisher_handshakes_failed", "format", "Connections whose handshake failed.",
            each_format([](const FormatTotals& f) { return f.handshakes_failed; })),
    counter("telegate_publisher_violations", "format", "Connections closed because the peer violated the protocol.",
            each_format([](const FormatTotals& f) { return f.violations; })),
    counter("telegate_publisher_heartbeat_timeouts", "format", "Connections closed because the peer timed out.",
            each_format([](const FormatTotals& f) { return f.heartbeat_timeouts; })),
    counter("telegate_publisher_subscriptions_refused", "format",
            "Subscriptions refused because they were too long or too many.",
            each_format([](const FormatTotals& f) { return f.subscriptions_refused; })),
    gauge("telegate_publisher_subscriptions", "", "Subscriptions of all subscribers.",
          one([](Source s) { return s.snapshot.publisher.subscriptions; })),
    gauge("telegate_subscribers", endpoint_labels, "Connected subscribers.",
          each_endpoint<Count>([](Count n, const P&) { return n + 1; })),
    gauge("telegate_subscribers_by_client", "endpoint, format, client",
          "Connected subscribers by CURVE client: NAME of its key file NAME.public. Clients without a connection are "
          "omitted.",
          add_by_client),
    counter("telegate_subscribers_gap_overflows", "", "Subscribers closed because they had too many gaps to report.",
            one([](Source s) { return s.snapshot.gap_overflows; })),
    gauge("telegate_subscribers_blocking", endpoint_labels, "Blocking subscribers that publishing is waiting for.",
          each_endpoint<Count>([](Count n, const P& p) { return n + (p.blocking ? 1 : 0); })),
    gauge("telegate_subscribers_backlog_bytes", endpoint_labels, "Bytes waiting to be sent to all subscribers.",
          each_endpoint<Count>([](Count n, const P& p) { return n + p.backlog_bytes; })),
    gauge("telegate_subscriber_backlog_max_bytes", endpoint_labels,
          "Bytes waiting to be sent to the slowest subscriber; see GET /subscribers.",
          each_endpoint<Count>([](Count n, const P& p) { return std::max<Count>(n, p.backlog_bytes); })),
    gauge("telegate_subscriber_idle_max_seconds", endpoint_labels, "Longest time without data from a subscriber.",
          each_endpoint<double>([](double n, const P& p) { return std::max(n, to_seconds(p.silent)); })),
    counter("telegate_services_requests", "service", "Valid requests.",
            [](Source s, Text t) { add_each<ServiceKind>(t, "service", s.snapshot.services.requests); }),
    counter("telegate_services_errors", "code", "Error replies.",
            [](Source s, Text t) { add_each<ServiceError>(t, "code", s.snapshot.services.errors); }),
    gauge("telegate_services_peers", "", "Connected DEALER and REQ sockets.",
          one([](Source s) { return s.snapshot.services.peers; })),
    gauge("telegate_services_replays_active", "", "Active replays.",
          one([](Source s) { return s.snapshot.services.replays_active; })),
    counter("telegate_services_replayed_samples", "", "Samples in replies to replay requests.",
            one([](Source s) { return s.snapshot.services.samples_replayed; })),
    counter("telegate_services_replies_lost", "", "Requests without a reply because the peer had disconnected.",
            one([](Source s) { return s.snapshot.services.replies_lost; })),
    counter("telegate_services_replies_dropped", "",
            "Replies that were still waiting to be read when the connection closed.",
            one([](Source s) { return s.snapshot.services.totals.dropped; })),
    gauge("telegate_services_backlog_bytes", "", "Bytes of replies waiting to be read.",
          one([](Source s) { return s.snapshot.services.backlog_bytes; })),
};

}  // namespace

constinit const std::span<const MetricRow> transport_metrics = transport_rows;

}  // namespace telegate
