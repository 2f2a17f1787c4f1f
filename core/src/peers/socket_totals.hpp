#pragma once

#include "core/monitor.hpp"
#include "session/outbox.hpp"
#include "session/session.hpp"

#include <cstddef>

namespace telegate {

/// Adds the counters of one outbox.
inline void add_deliveries(SocketTotals& totals, const Outbox& outbox) {
    totals.matched += outbox.matched();
    totals.sent += outbox.sent();
    totals.dropped += outbox.dropped();
    for (std::size_t reason = 0; reason < loss_reasons; ++reason) {
        totals.lost[reason] += outbox.losses()[reason].count;
    }
    totals.pending += outbox.backlog().messages();
}

/// Adds the counters of one session that its outbox does not have.
inline void add_traffic(SocketTotals& totals, const Session& session) noexcept {
    totals.received += session.received();
    totals.bytes_sent += session.bytes_sent();
    totals.bytes_received += session.bytes_received();
}

}  // namespace telegate
