#pragma once

#include "core/curve.hpp"
#include "core/delivery.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// An event of a connection or endpoint of a socket.
enum class MonitorEventKind : std::uint8_t {
    listening,         // an endpoint is bound
    bind_failed,       // detail: the reason
    accepted,          // an incoming connection was accepted; its handshake begins
    accept_failed,     // detail: usually that no descriptor is free
    refused,           // an incoming connection was closed immediately; detail: the limit
    connected,         // an outgoing connection was established; its handshake begins
    retried,           // an outgoing connection failed; detail: the reason; it will be retried
    handshake_done,    // detail: the peer's socket type and mechanism
    handshake_failed,  // detail: the reason
    subscribed,        // detail: the prefix
    unsubscribed,      // detail: the prefix
    slow,              // the peer's backlog is over half its limit
    dropped,           // count: messages lost to this peer since the last such event
    disconnected,      // detail: the reason
    closed,            // an endpoint is no longer bound
};

[[nodiscard]] std::string_view to_string(MonitorEventKind kind) noexcept;

/// Why a connection ended.
enum class PeerEnding : std::uint8_t {
    normal,     // the peer disconnected, or received everything before this socket closed
    violation,  // the peer violated the protocol
    silence,    // heartbeat timeout
    other,      // a limit, a fault, or another connection took its place
};

/// The status of one connection after its handshake. `matched = sent + dropped + pending` holds in every copy.
struct PeerStatus {
    std::uint64_t id = 0;     // from 1, in order of arrival, per socket
    std::string endpoint;     // the endpoint of this socket that it belongs to
    std::string peer;         // "127.0.0.1:50312"; "pid=712 uid=1000" over ipc; "inproc" over inproc
    std::string identity;     // routing identity, any bytes
    std::string socket_type;  // of the peer, for example "SUB"
    Mechanism mechanism = Mechanism::null;
    std::optional<CurveKey> curve_key;  // the peer's public key
    std::string curve_name;             // a client's name from its key file, see CurveClients
    unsigned zmtp_minor = 0;            // minor version of ZMTP 3

    std::vector<std::string> subscriptions;  // publisher only: the first few prefixes, any bytes
    std::size_t subscriptions_count = 0;

    std::uint64_t matched = 0;                  // messages for this peer
    std::uint64_t sent = 0;                     // whole messages handed to the kernel
    std::uint64_t dropped = 0;                  // lost because it reads too slowly or has disconnected
    std::array<Losses, loss_reasons> losses{};  // the same by reason
    std::uint64_t pending = 0;
    std::size_t backlog_bytes = 0;
    bool blocking = false;       // publishing waits for it, see SlowPolicy::block
    std::uint64_t received = 0;  // whole messages from this peer
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;

    std::chrono::milliseconds silent{0};                  // idle time, to the accuracy of a heartbeat
    std::optional<std::chrono::microseconds> round_trip;  // of the last PING that was answered
};

/// A monitor event. Valid only during the call.
struct MonitorEvent {
    MonitorEventKind kind;
    std::string_view endpoint;  // that was bound or connected
    std::string_view peer;      // "127.0.0.1:50312" or "pid=712 uid=1000"; empty if there is none
    std::uint64_t peer_id = 0;  // as in PeerStatus; 0: none
    std::string_view detail;
    std::uint64_t count = 0;
    const PeerStatus* status = nullptr;  // for handshake_done, handshake_failed and disconnected; without subscriptions
    PeerEnding ending = PeerEnding::other;  // of disconnected
};

/// A handler for monitor events, called on the reactor's thread. It must not destroy the socket. If it is called within
/// receive(), another receive() of the same socket returns nothing. An exception that it throws is rethrown from the
/// reactor by a later handler, so it does not affect the socket.
using MonitorHandler = std::function<void(const MonitorEvent&)>;

/// Counters of one socket since it was created. Counters from `matched` on are sums over all peers, including those
/// that have disconnected.
struct SocketTotals {
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;  // over a limit, or the event loop cannot watch more
    std::uint64_t connections_made = 0;     // by connect()
    std::uint64_t connections_retried = 0;
    std::uint64_t accept_errors = 0;  // usually because no descriptor is free
    std::uint64_t handshakes_failed = 0;
    std::uint64_t violations = 0;          // peers closed because they violated the protocol after the handshake
    std::uint64_t heartbeat_timeouts = 0;  // peers closed because of a heartbeat timeout
    std::uint64_t matched = 0;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
    std::array<std::uint64_t, loss_reasons> lost{};  // the same by reason
    std::uint64_t pending = 0;
    std::uint64_t received = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;

    /// Adds the counters of `other`.
    SocketTotals& operator+=(const SocketTotals& other) noexcept;
};

}  // namespace telegate
