#include "interop/peer/report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace telegate::test {
namespace {

using nlohmann::json;

constexpr std::size_t peers_shown_max = 16;

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += {digits[value >> 4], digits[value & 15]};
    }
    return text;
}

template <class Counts>
bool balanced(const Counts& counts) {
    return counts.matched == counts.sent + counts.dropped + counts.pending;
}

json peer_json(const PeerStatus& peer) {
    return {{"peer", peer.peer},
            {"identity_hex", hex(peer.identity)},
            {"socket_type", peer.socket_type},
            {"mechanism", to_string(peer.mechanism)},
            {"curve_key", peer.curve_key ? to_z85(*peer.curve_key) : ""},
            {"zmtp_minor", peer.zmtp_minor},
            {"subscriptions_count", peer.subscriptions_count},
            {"matched", peer.matched},
            {"sent", peer.sent},
            {"dropped", peer.dropped},
            {"pending", peer.pending},
            {"backlog_bytes", peer.backlog_bytes},
            {"received", peer.received},
            {"idle_ms", peer.silent.count()},
            {"round_trip_us", peer.round_trip ? json(peer.round_trip->count()) : json()}};
}

json totals_json(const PublisherTotals& totals) {
    return {{"connections_accepted", totals.connections_accepted},
            {"connections_refused", totals.connections_refused},
            {"connections_made", totals.connections_made},
            {"connections_retried", totals.connections_retried},
            {"accept_errors", totals.accept_errors},
            {"handshakes_failed", totals.handshakes_failed},
            {"violations", totals.violations},
            {"heartbeat_timeouts", totals.heartbeat_timeouts},
            {"matched", totals.matched},
            {"sent", totals.sent},
            {"dropped", totals.dropped},
            {"pending", totals.pending},
            {"received", totals.received},
            {"bytes_sent", totals.bytes_sent},
            {"bytes_received", totals.bytes_received},
            {"messages", totals.messages},
            {"subscriptions", totals.subscriptions},
            {"subscriptions_refused", totals.subscriptions_refused}};
}

json received_json(const TrafficCounts& counts) {
    return {{"messages", counts.messages}, {"frames", counts.frames},    {"bytes", counts.bytes},
            {"damaged", counts.damaged},   {"missing", counts.missing},  {"repeated", counts.repeated},
            {"streams", counts.streams},   {"last_seq", counts.last_seq}};
}

}  // namespace

void add_totals(SocketTotals& sum, const SocketTotals& totals) noexcept {
    sum.connections_accepted += totals.connections_accepted;
    sum.connections_refused += totals.connections_refused;
    sum.connections_made += totals.connections_made;
    sum.connections_retried += totals.connections_retried;
    sum.accept_errors += totals.accept_errors;
    sum.handshakes_failed += totals.handshakes_failed;
    sum.violations += totals.violations;
    sum.heartbeat_timeouts += totals.heartbeat_timeouts;
    sum.matched += totals.matched;
    sum.sent += totals.sent;
    sum.dropped += totals.dropped;
    sum.pending += totals.pending;
    sum.received += totals.received;
    sum.bytes_sent += totals.bytes_sent;
    sum.bytes_received += totals.bytes_received;
}

std::string to_json(const PeerReport& report) {
    json endpoints = json::array();
    for (const Endpoint& endpoint : report.endpoints) {
        endpoints.push_back(to_string(endpoint));
    }
    json peers = json::array();
    for (const PeerStatus& peer : std::span(report.peers).first(std::min(report.peers.size(), peers_shown_max))) {
        peers.push_back(peer_json(peer));
    }
    const bool all_balanced =
        balanced(report.totals) && std::all_of(report.peers.begin(), report.peers.end(), balanced<PeerStatus>);
    const json line = {{"endpoints", endpoints},
                       {"totals", totals_json(report.totals)},
                       {"balanced", all_balanced},
                       {"peers_count", report.peers.size()},
                       {"peers", peers},
                       {"received", received_json(report.received)},
                       {"numbered", report.numbered},
                       {"to_send", report.to_send},
                       {"not_sent_back", report.not_sent_back},
                       {"events", report.events},
                       {"details", report.details}};
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace telegate::test
