#include "endpoints/peer_log.hpp"

#include "core/curve.hpp"
#include "log/log_line.hpp"

#include <string>

namespace telegate {
namespace {

LogFields peer_fields(const MonitorEvent& event) {
    return LogFields().add("id", event.peer_id).add("endpoint", event.endpoint).quote("peer", event.peer);
}

/// Returns the CURVE identity of the peer: its name, or its key if it has no name.
LogFields client_fields(const MonitorEvent& event) {
    if (event.status == nullptr || !event.status->curve_key) {
        return {};
    }
    return event.status->curve_name.empty() ? LogFields().quote("key", to_z85(*event.status->curve_key))
                                            : LogFields().quote("client", event.status->curve_name);
}

LogFields gone_fields(const MonitorEvent& event) {
    return peer_fields(event)
        .append(client_fields(event))
        .quote("reason", event.detail)
        .add("matched", event.status->matched)
        .add("sent", event.status->sent)
        .add("dropped", event.status->dropped);
}

/// Returns the part of the address that stays the same when a peer reconnects: without port, or the user without
/// process.
std::string_view origin(std::string_view peer) {
    const std::size_t user = peer.find("uid=");
    return user != std::string_view::npos ? peer.substr(user) : peer.substr(0, peer.rfind(':'));
}

}  // namespace

void PeerLog::log_event(const MonitorEvent& event) {
    if (event.kind == MonitorEventKind::handshake_done) {
        log_.info_limited("connected", {"subscriber connected", peer_fields(event).append(client_fields(event))});
    } else if (event.kind == MonitorEventKind::disconnected && event.ending == PeerEnding::normal) {
        log_.info_limited(event.detail, {"subscriber disconnected", gone_fields(event)});
    } else {
        log_trouble(event, "subscriber");
    }
}

void PeerLog::log_trouble(const MonitorEvent& event, std::string_view who) {
    const auto cause = [&event] {
        return std::string(event.detail) + ' ' + std::string(origin(event.peer));
    };
    switch (event.kind) {
        case MonitorEventKind::disconnected:
            if (event.ending != PeerEnding::normal) {
                log_.warn_limited(cause(), {std::string(who) + " closed", gone_fields(event)});
            }
            return;
        case MonitorEventKind::handshake_failed:
        case MonitorEventKind::refused:
            return log_.warn_limited(cause(), LogLine("connection refused")
                                                  .add("endpoint", event.endpoint)
                                                  .quote("peer", event.peer)
                                                  .append(client_fields(event))
                                                  .quote("reason", event.detail));
        case MonitorEventKind::accept_failed:
            return log_.warn_limited(
                cause(),
                LogLine("cannot accept connection").add("endpoint", event.endpoint).quote("reason", event.detail));
        case MonitorEventKind::slow:
            return log_.warn_limited("slow " + cause(), {std::string(who) + " is slow", peer_fields(event)});
        default: return;
    }
}

}  // namespace telegate
