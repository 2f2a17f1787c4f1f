#pragma once

#include "core/curve.hpp"
#include "core/limits.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace telegate {

/// What all sockets have in common. The defaults suit a gateway; zero never means "no limit". What a socket cannot
/// work with is refused when it is made, see check_options(): counts are 1 to 1,048,576, times up to 24 hours, and
/// reconnect_first is not above reconnect_max.
struct SocketOptions {
    /// Sent to ROUTER peers by DEALER and ROUTER: 1 to 255 bytes, the first not zero; empty for none.
    std::string identity;
    Security security;

    std::size_t sessions_max = limits::sessions_max;
    std::size_t handshakes_max = limits::handshakes_max;
    std::size_t handshakes_per_address_max = limits::handshakes_per_address_max;
    std::chrono::milliseconds handshake_time_max = limits::handshake_time_max;

    /// Bytes that may wait for one peer; for a publisher, how far its log may run ahead of the slowest.
    std::size_t backlog_bytes_max = limits::backlog_bytes_max;
    /// One incoming message, all frames with their headers. From 256 bytes to 1 GiB.
    std::size_t message_bytes_max = limits::message_bytes_max;
    std::size_t frames_per_message_max = limits::frames_per_message_max;
    /// Unit of the send log, from 256 bytes to 16 MiB; one message takes one segment at most, or its own. Large, since
    /// each is written in one piece; four messages of 64 KiB fit the default. A socket keeps up to 16 that are free,
    /// here 4 MiB, once it has used them. A peer of a Router or Dealer has 4 KiB while little waits for it, then 64 KiB
    /// more, then such segments. A publisher's are at most a quarter of backlog_bytes_max.
    std::size_t segment_bytes = 260 * 1024;
    /// What is read at once, from 256 bytes to 1 MiB: a buffer that a peer has while something of it is unread. A few
    /// more, up to 1 MiB in all, are kept for use again. A Publisher, which is sent little, takes up to 64 KiB.
    std::size_t receive_buffer_bytes = 256 * 1024;

    /// A peer of ZMTP 3.1 or later that has been silent for this long is sent PING; 0 sends none.
    std::chrono::milliseconds heartbeat_interval = limits::heartbeat_interval;
    /// A peer that gives no sign of life for this long is closed, and told so as its TTL, in tenths of a second; one of
    /// ZMTP 3.0 is closed only while something waits for it. From 10 ms, since a turn of the loop takes time; at most
    /// 65 s, since libzmq counts a longer TTL wrongly.
    std::chrono::milliseconds heartbeat_timeout = limits::heartbeat_timeout;

    /// Connections that are lost or not made are tried again after a time that doubles from the first to the last, each
    /// with up to half of it added at random.
    std::chrono::milliseconds reconnect_first = limits::reconnect_first;
    std::chrono::milliseconds reconnect_max = limits::reconnect_max;

    /// Of ipc files that are bound: permission bits, and owner and group; empty leaves what the umask and process give.
    std::optional<mode_t> ipc_mode;
    std::optional<uid_t> ipc_owner;
    std::optional<gid_t> ipc_group;
};

/// Returns `options`. Throws std::invalid_argument that names the option, its value and what is allowed. Every socket
/// calls it when it is made. Threads: any.
const SocketOptions& check_options(const SocketOptions& options);

}  // namespace telegate
