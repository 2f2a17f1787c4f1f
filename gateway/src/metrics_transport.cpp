#include "metrics_table.hpp"
#include "status_parts.hpp"

#include <algorithm>
#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

void add_total(Source source, Text text, std::uint64_t PublisherTotals::*count) {
    text.add({}, source.snapshot.publisher.*count);
}

/// A figure of each of the first subscribers, and of the others together: their sum, or their greatest.
template <class Value>
void add_subscribers(Source source, Text text, const Value& value, bool greatest = false) {
    const auto& all = source.snapshot.subscribers;
    const std::size_t named = std::min(all.size(), metric_subscribers_max);
    for (const SubscriberStatus& subscriber : std::span(all).first(named)) {
        const std::string id = std::string(to_string(subscriber.format)) + '-' + std::to_string(subscriber.id);
        text.add({{"subscriber", id}, {"peer", subscriber.peer}, {"endpoint", subscriber.endpoint}}, value(subscriber));
    }
    if (named < all.size()) {
        decltype(value(all.front())) others{};
        for (const SubscriberStatus& subscriber : std::span(all).subspan(named)) {
            others = greatest ? std::max(others, value(subscriber)) : others + value(subscriber);
        }
        text.add({{"subscriber", "other"}, {"peer", "other"}, {"endpoint", "other"}}, others);
    }
}

using T = PublisherTotals;
using P = SubscriberStatus;

constexpr std::string_view subscriber_labels = "subscriber, peer, endpoint";

// clang-format off
constexpr std::array rows{
    MetricRow{{"telegate_publisher_messages", MetricType::counter, "",
               "Messages published, once for each format, whether or not anybody had asked for them."}, "",
              [](Source s, Text t) { add_total(s, t, &T::messages); }},
    MetricRow{{"telegate_publisher_matched", MetricType::counter, "", "Messages meant for some subscriber."}, "",
              [](Source s, Text t) { add_total(s, t, &T::matched); }},
    MetricRow{{"telegate_publisher_sent", MetricType::counter, "", "Messages handed to the kernel whole."}, "",
              [](Source s, Text t) { add_total(s, t, &T::sent); }},
    MetricRow{{"telegate_publisher_dropped", MetricType::counter, "",
               "Messages given up because a subscriber reads too slowly, or lost when it left."}, "",
              [](Source s, Text t) { add_total(s, t, &T::dropped); }},
    MetricRow{{"telegate_publisher_pending", MetricType::gauge, "", "Messages waiting for subscribers."}, "",
              [](Source s, Text t) { add_total(s, t, &T::pending); }},
    MetricRow{{"telegate_publisher_sent_bytes", MetricType::counter, "bytes", "Bytes sent to subscribers."}, "",
              [](Source s, Text t) { add_total(s, t, &T::bytes_sent); }},
    MetricRow{{"telegate_publisher_received_bytes", MetricType::counter, "bytes", "Bytes received from subscribers."}, "",
              [](Source s, Text t) { add_total(s, t, &T::bytes_received); }},
    MetricRow{{"telegate_publisher_connections_accepted", MetricType::counter, "", "Connections taken."}, "",
              [](Source s, Text t) { add_total(s, t, &T::connections_accepted); }},
    MetricRow{{"telegate_publisher_connections_refused", MetricType::counter, "",
               "Connections refused because there were too many."}, "",
              [](Source s, Text t) { add_total(s, t, &T::connections_refused); }},
    MetricRow{{"telegate_publisher_accept_errors", MetricType::counter, "", "Connections that could not be accepted."}, "",
              [](Source s, Text t) { add_total(s, t, &T::accept_errors); }},
    MetricRow{{"telegate_publisher_handshakes_failed", MetricType::counter, "",
               "Connections that did not get as far as subscribing."}, "",
              [](Source s, Text t) { add_total(s, t, &T::handshakes_failed); }},
    MetricRow{{"telegate_publisher_violations", MetricType::counter, "",
               "Connections closed because the peer broke the protocol."}, "",
              [](Source s, Text t) { add_total(s, t, &T::violations); }},
    MetricRow{{"telegate_publisher_silences", MetricType::counter, "",
               "Connections closed because the peer gave no sign of life."}, "",
              [](Source s, Text t) { add_total(s, t, &T::silences); }},
    MetricRow{{"telegate_publisher_subscriptions_refused", MetricType::counter, "",
               "Subscriptions refused because they were too long or too many."}, "",
              [](Source s, Text t) { add_total(s, t, &T::subscriptions_refused); }},
    MetricRow{{"telegate_publisher_subscriptions", MetricType::gauge, "", "Subscriptions of all subscribers."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.publisher.subscriptions}); }},
    MetricRow{{"telegate_subscribers", MetricType::gauge, "", "Subscribers that are connected."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.subscribers.size()}); }},
    MetricRow{{"telegate_subscriber_matched", MetricType::counter, "", "Messages meant for this subscriber."}, subscriber_labels,
              [](Source s, Text t) { add_subscribers(s, t, [](const P& p) { return p.matched; }); }},
    MetricRow{{"telegate_subscriber_sent", MetricType::counter, "", "Messages sent to it."}, subscriber_labels,
              [](Source s, Text t) { add_subscribers(s, t, [](const P& p) { return p.sent; }); }},
    MetricRow{{"telegate_subscriber_dropped", MetricType::counter, "", "Messages given up because it reads too slowly."},
              subscriber_labels,
              [](Source s, Text t) { add_subscribers(s, t, [](const P& p) { return p.dropped; }); }},
    MetricRow{{"telegate_subscriber_pending", MetricType::gauge, "", "Messages waiting for it."}, subscriber_labels,
              [](Source s, Text t) { add_subscribers(s, t, [](const P& p) { return p.pending; }); }},
    MetricRow{{"telegate_subscriber_backlog_bytes", MetricType::gauge, "bytes", "Bytes waiting for it."}, subscriber_labels,
              [](Source s, Text t) { add_subscribers(s, t, [](const P& p) { return std::uint64_t{p.backlog_bytes}; }); }},
    MetricRow{{"telegate_subscriber_silent_seconds", MetricType::gauge, "seconds",
               "Time since it last gave a sign of life; of the others together, the longest."}, subscriber_labels,
              [](Source s, Text t) { add_subscribers(s, t, [](const P& p) { return to_seconds(p.silent); }, true); }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> transport_metrics() noexcept {
    return rows;
}

}  // namespace telegate
