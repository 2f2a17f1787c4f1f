#include "peers/peer_monitor.hpp"

#include "reactor/rethrow_later.hpp"

#include <utility>

namespace telegate {

void PeerMonitor::set(MonitorHandler handler) {
    handler_ = handler ? std::make_shared<const MonitorHandler>(std::move(handler)) : nullptr;
}

void PeerMonitor::report(const MonitorEvent& event) const {
    if (const auto handler = handler_) {
        rethrow_later(reactor_, [&] { (*handler)(event); });
    }
}

void PeerMonitor::report(MonitorEventKind kind, std::string_view endpoint, std::string_view detail,
                         std::string_view peer) const {
    report({kind, endpoint, peer, 0, detail, 0, nullptr});
}

void PeerMonitor::report(MonitorEventKind kind, const Session& session, std::string_view detail,
                         std::uint64_t count) const {
    if (is_on()) {
        report({kind, session.endpoint(), session.peer_text(), session.id(), detail, count, nullptr});
    }
}

void PeerMonitor::report(MonitorEventKind kind, const Session& session, std::string_view detail,
                         const PeerStatus& status) const {
    report({kind, session.endpoint(), session.peer_text(), session.id(), detail, 0, &status, session.ending()});
}

void PeerMonitor::report_if_slow(const Session& session, Reported& reported, std::size_t backlog_bytes_max) const {
    if (!is_on()) {
        return;
    }
    const std::size_t bytes = session.outbox()->backlog().bytes();
    if (bytes > session.outbox()->bytes_max_or(backlog_bytes_max) / 2 && !reported.slow) {
        reported.slow = true;
        report(MonitorEventKind::slow, session, {});
    } else if (bytes == 0) {
        reported.slow = false;
    }
}

void PeerMonitor::report_dropped(const Session& session, Reported& reported) const {
    const std::uint64_t dropped = session.outbox()->dropped();
    if (is_on() && dropped > reported.dropped) {
        const std::uint64_t count = dropped - reported.dropped;
        reported.dropped = dropped;
        report(MonitorEventKind::dropped, session, {}, count);
    }
}

}  // namespace telegate
