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

/// Options common to all sockets. The defaults suit a gateway; zero never means "no limit". Invalid options are refused
/// when the socket is created, see check_options(): counts are 1 to 1,048,576, times up to 24 hours, and
/// reconnect_first must not exceed reconnect_max.
struct SocketOptions {
    /// Identity that DEALER and ROUTER send to ROUTER peers: 1 to 255 bytes, the first not zero; empty for none.
    std::string identity;
    Security security;

    std::size_t sessions_max = limits::sessions_max;
    std::size_t handshakes_max = limits::handshakes_max;
    std::size_t handshakes_per_address_max = limits::handshakes_per_address_max;
    std::chrono::milliseconds handshake_time_max = limits::handshake_time_max;

    /// Bytes that may be pending for one peer. For a publisher, how far its log may run ahead of the slowest
    /// subscriber.
    std::size_t backlog_bytes_max = limits::backlog_bytes_max;
    /// Size of one incoming message, all frames with their headers: 256 bytes to 1 GiB.
    std::size_t message_bytes_max = limits::message_bytes_max;
    std::size_t frames_per_message_max = limits::frames_per_message_max;
    /// Segment size of the send log, 256 bytes to 16 MiB. A message takes at most one segment; a larger message gets
    /// its own. The default is large, since each segment is written in one piece, and holds four messages of 64 KiB. A
    /// socket keeps up to 16 free segments that it has used, 4 MiB with the default. A peer of a Router or Dealer uses
    /// 4 KiB while little is pending, then another 64 KiB, then segments of this size. The segments of a publisher are
    /// at most a quarter of backlog_bytes_max.
    std::size_t segment_bytes = 260 * 1024;
    /// Bytes read at once, 256 bytes to 1 MiB: the buffer that a peer has while part of it is unread. Up to 1 MiB of
    /// free buffers are kept for reuse. A Publisher, which receives little, reads at most 64 KiB at once.
    std::size_t receive_buffer_bytes = 256 * 1024;

    /// Idle time after which a peer of ZMTP 3.1 or later is sent PING. 0 disables PING.
    std::chrono::milliseconds heartbeat_interval = limits::heartbeat_interval;
    /// Time without a heartbeat after which a peer is disconnected. It is sent to peers as the TTL, in tenths of a
    /// second. A ZMTP 3.0 peer is disconnected only while data is pending for it. At least 10 ms, since an event-loop
    /// iteration takes time; at most 65 s, since libzmq counts a longer TTL incorrectly.
    std::chrono::milliseconds heartbeat_timeout = limits::heartbeat_timeout;

    /// Delay before a lost or failed connection is retried. It doubles from reconnect_first to reconnect_max; up to
    /// half of it is added at random.
    std::chrono::milliseconds reconnect_first = limits::reconnect_first;
    std::chrono::milliseconds reconnect_max = limits::reconnect_max;

    /// Permission bits, owner and group of ipc files that are bound. Empty: the defaults of the umask and the process.
    std::optional<mode_t> ipc_mode;
    std::optional<uid_t> ipc_owner;
    std::optional<gid_t> ipc_group;
};

/// Returns `options`. Throws std::invalid_argument that names the option, its value and what is allowed. Every socket
/// calls this when it is created. Threads: any.
const SocketOptions& check_options(const SocketOptions& options);

}  // namespace telegate
