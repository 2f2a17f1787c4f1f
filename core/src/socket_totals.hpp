#pragma once

#include "core/monitor.hpp"
#include "outbox.hpp"

namespace telegate {

/// Adds what one outbox counts.
inline void add_deliveries(SocketTotals& totals, const Outbox& outbox) {
    totals.matched += outbox.matched();
    totals.sent += outbox.sent();
    totals.dropped += outbox.dropped();
    totals.pending += outbox.backlog().messages();
}

/// Adds what another thread of the same socket counts.
inline void add_totals(SocketTotals& totals, const SocketTotals& other) {
    totals.connections_accepted += other.connections_accepted;
    totals.connections_refused += other.connections_refused;
    totals.connections_made += other.connections_made;
    totals.connections_retried += other.connections_retried;
    totals.accept_errors += other.accept_errors;
    totals.handshakes_failed += other.handshakes_failed;
    totals.violations += other.violations;
    totals.silences += other.silences;
    totals.matched += other.matched;
    totals.sent += other.sent;
    totals.dropped += other.dropped;
    totals.pending += other.pending;
    totals.received += other.received;
    totals.bytes_sent += other.bytes_sent;
    totals.bytes_received += other.bytes_received;
}

/// Adds what one session counts beside it.
inline void add_traffic(SocketTotals& totals, const PeerStatus& status) {
    totals.received += status.received;
    totals.bytes_sent += status.bytes_sent;
    totals.bytes_received += status.bytes_received;
}

}  // namespace telegate
