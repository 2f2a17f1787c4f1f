#include "core/monitor.hpp"

#include "core/publisher.hpp"

namespace telegate {

std::string_view to_string(MonitorEventKind kind) noexcept {
    switch (kind) {
        case MonitorEventKind::listening: return "listening";
        case MonitorEventKind::bind_failed: return "bind_failed";
        case MonitorEventKind::accepted: return "accepted";
        case MonitorEventKind::accept_failed: return "accept_failed";
        case MonitorEventKind::refused: return "refused";
        case MonitorEventKind::connected: return "connected";
        case MonitorEventKind::retried: return "retried";
        case MonitorEventKind::handshake_done: return "handshake_done";
        case MonitorEventKind::handshake_failed: return "handshake_failed";
        case MonitorEventKind::subscribed: return "subscribed";
        case MonitorEventKind::unsubscribed: return "unsubscribed";
        case MonitorEventKind::slow: return "slow";
        case MonitorEventKind::dropped: return "dropped";
        case MonitorEventKind::disconnected: return "disconnected";
        case MonitorEventKind::closed: return "closed";
    }
    return "unknown";
}

SocketTotals& SocketTotals::operator+=(const SocketTotals& other) noexcept {
    connections_accepted += other.connections_accepted;
    connections_refused += other.connections_refused;
    connections_made += other.connections_made;
    connections_retried += other.connections_retried;
    accept_errors += other.accept_errors;
    handshakes_failed += other.handshakes_failed;
    violations += other.violations;
    heartbeat_timeouts += other.heartbeat_timeouts;
    matched += other.matched;
    sent += other.sent;
    dropped += other.dropped;
    for (std::size_t reason = 0; reason < loss_reasons; ++reason) {
        lost[reason] += other.lost[reason];
    }
    pending += other.pending;
    received += other.received;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    return *this;
}

PublisherTotals& PublisherTotals::operator+=(const PublisherTotals& other) noexcept {
    static_cast<SocketTotals&>(*this) += other;
    messages += other.messages;
    subscriptions_refused += other.subscriptions_refused;
    subscriptions += other.subscriptions;
    return *this;
}

}  // namespace telegate
