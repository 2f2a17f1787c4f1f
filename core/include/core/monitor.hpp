#pragma once

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

/// What happened to a socket's connections.
enum class MonitorEventKind : std::uint8_t {
    listening,         // an endpoint is bound
    bind_failed,       // detail: why
    accepted,          // a connection came in; its handshake begins
    accept_failed,     // detail: mostly a lack of descriptors
    refused,           // a connection came in and was closed at once; detail: which limit
    connected,         // a connection of ours was made; its handshake begins
    retried,           // a connection of ours could not be made; detail: why; another attempt follows
    handshake_done,    // detail: the peer's socket type and mechanism
    handshake_failed,  // detail: why
    subscribed,        // detail: the prefix
    unsubscribed,      // detail: the prefix
    slow,              // its backlog is over half its limit
    dropped,           // count: messages lost to this peer since the last such event
    disconnected,      // detail: why
    closed,            // an endpoint is no longer bound
};

[[nodiscard]] std::string_view to_string(MonitorEventKind kind) noexcept;

/// One connection after its handshake. `matched = sent + dropped + pending` holds in every copy.
struct PeerStatus {
    std::uint64_t id = 0;     // from 1, in order of arrival, per socket
    std::string endpoint;     // the endpoint of ours that it belongs to
    std::string peer;         // "127.0.0.1:50312", or "pid=712 uid=1000" over ipc, "inproc" over inproc
    std::string identity;     // routing identity, any bytes
    std::string socket_type;  // of the peer: "SUB"
    std::string mechanism;    // "NULL" or "CURVE"
    std::string curve_key;    // the peer's public key in Z85, when it has one
    std::string curve_name;   // of a client of ours by its key file, see CurveClients
    unsigned zmtp_minor = 0;  // of ZMTP 3

    std::vector<std::string> subscriptions;  // publisher only: the first few, as sent: prefixes, any bytes
    std::size_t subscriptions_count = 0;

    std::uint64_t matched = 0;                  // messages meant for it
    std::uint64_t sent = 0;                     // handed to the kernel, whole
    std::uint64_t dropped = 0;                  // given up because it reads too slowly, or lost when it left
    std::array<Losses, loss_reasons> losses{};  // of these: by reason
    std::uint64_t pending = 0;
    std::size_t backlog_bytes = 0;
    bool holds_up = false;       // publishing waits for it, see SlowPolicy::block
    std::uint64_t received = 0;  // whole messages from it
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;

    std::chrono::milliseconds silent{0};  // since it last gave a sign of life, to a heartbeat's precision
    std::optional<std::chrono::microseconds> round_trip;  // of the last PING that came back
};

/// What it shows lasts during the call only.
struct MonitorEvent {
    MonitorEventKind kind;
    std::string_view endpoint;  // of ours that was bound or connected
    std::string_view peer;      // "127.0.0.1:50312", "pid=712 uid=1000"; empty when there is none
    std::uint64_t peer_id = 0;  // as in PeerStatus; 0: none
    std::string_view detail;
    std::uint64_t count = 0;
    const PeerStatus* status = nullptr;  // with handshake_done, handshake_failed, disconnected: without subscriptions
};

/// Called on the reactor's thread. Must not destroy the socket. A receive() that is called within another one of the
/// same socket gives nothing. What it throws leaves the reactor from a later handler, so that the socket is as if it
/// had not thrown.
using MonitorHandler = std::function<void(const MonitorEvent&)>;

/// Counts of one socket since it was made. Those from `matched` on sum over all peers, those that have left included.
struct SocketTotals {
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;  // over a limit, or the event loop has no room
    std::uint64_t connections_made = 0;     // by connect()
    std::uint64_t connections_retried = 0;
    std::uint64_t accept_errors = 0;  // mostly a lack of descriptors
    std::uint64_t handshakes_failed = 0;
    std::uint64_t violations = 0;  // peers closed for breaking the protocol after the handshake
    std::uint64_t silences = 0;    // peers closed because they gave no sign of life
    std::uint64_t matched = 0;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
    std::array<std::uint64_t, loss_reasons> lost{};  // of these: by reason
    std::uint64_t pending = 0;
    std::uint64_t received = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;

    /// What all count together.
    SocketTotals& operator+=(const SocketTotals& other) noexcept;
};

}  // namespace telegate
