#include "endpoints/peer_log.hpp"

#include "log/log_value.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace telegate {
namespace {

std::string peer_text(const MonitorEvent& event) {
    return "id=" + std::to_string(event.peer_id) + " endpoint=" + std::string(event.endpoint) +
           " peer=" + log_quoted(event.peer);
}

/// Who it is by CURVE: its name, or its key where it has none.
std::string client_text(const MonitorEvent& event) {
    if (event.status == nullptr || event.status->curve_key.empty()) {
        return "";
    }
    return event.status->curve_name.empty() ? " key=" + log_quoted(event.status->curve_key)
                                            : " client=" + log_quoted(event.status->curve_name);
}

std::string why_text(const MonitorEvent& event) {
    return " why=" + log_quoted(event.detail);
}

std::string counts_text(const PeerStatus& status) {
    return " matched=" + std::to_string(status.matched) + " sent=" + std::to_string(status.sent) +
           " dropped=" + std::to_string(status.dropped);
}

std::string gone_text(const MonitorEvent& event) {
    return peer_text(event) + client_text(event) + why_text(event) + counts_text(*event.status);
}

/// What stays the same when a peer comes again: its address without the port, its user without the process.
std::string_view origin(std::string_view peer) {
    const std::size_t user = peer.find("uid=");
    return user != std::string_view::npos ? peer.substr(user) : peer.substr(0, peer.rfind(':'));
}

/// Whether it went as peers do every day. What else ends a session is one's fault, and should be rare.
bool left_by_itself(std::string_view why) {
    return why == "peer left" || why == "shutdown" || why == std::generic_category().message(ECONNRESET) ||
           why == std::generic_category().message(EPIPE);
}

}  // namespace

void PeerLog::note(const MonitorEvent& event) {
    if (event.kind == MonitorEventKind::handshake_done) {
        log_.info_limited("connected", "subscriber connected " + peer_text(event) + client_text(event));
    } else if (event.kind == MonitorEventKind::disconnected && left_by_itself(event.detail)) {
        log_.info_limited(event.detail, "subscriber left " + gone_text(event));
    } else {
        note_trouble(event, "subscriber");
    }
}

void PeerLog::note_trouble(const MonitorEvent& event, std::string_view who) {
    const auto cause = [&event] {
        return std::string(event.detail) + ' ' + std::string(origin(event.peer));
    };
    switch (event.kind) {
        case MonitorEventKind::disconnected:
            if (!left_by_itself(event.detail)) {
                log_.warn_limited(cause(), std::string(who) + " closed " + gone_text(event));
            }
            return;
        case MonitorEventKind::handshake_failed:
        case MonitorEventKind::refused:
            return log_.warn_limited(cause(), "connection refused endpoint=" + std::string(event.endpoint) + " peer=" +
                                                  log_quoted(event.peer) + client_text(event) + why_text(event));
        case MonitorEventKind::accept_failed:
            return log_.warn_limited(
                cause(), "connection not accepted endpoint=" + std::string(event.endpoint) + why_text(event));
        case MonitorEventKind::slow:
            return log_.warn_limited("slow " + cause(), std::string(who) + " reads too slowly " + peer_text(event));
        default: return;
    }
}

}  // namespace telegate
