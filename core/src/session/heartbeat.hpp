#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace telegate {

/// Decides whether a peer is alive from observations made at intervals. Pure: the caller passes the time.
///
/// Evidence that a peer is alive: bytes from the peer; bytes of ours that its machine acknowledged, except PINGs,
/// because the kernel of a hung process acknowledges those too; and, while data is pending for it, any acknowledgment,
/// even one that reports a full receive buffer. A slow peer is therefore not taken for dead.
///
/// A ZMTP 3.0 peer does not know PING and is not sent one. It is checked only while data is pending for it; otherwise
/// TCP keepalive has to detect that its machine is gone.
///
/// Threads: one. Limits: none. Failure: none.
class Heartbeat {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Milliseconds = std::chrono::milliseconds;

    /// With an `interval` of 0, sends no PING and detects no silent peer, except for a TTL that the peer requested.
    Heartbeat(Milliseconds interval, Milliseconds timeout) noexcept : interval_(interval), timeout_(timeout) {}

    void start(Time now, bool peer_knows_ping) noexcept;

    /// Evidence that needs no system call.
    struct Heard {
        std::uint64_t bytes_received = 0;  // total
        bool has_unread = false;           // data has arrived that the owner has not received
    };
    enum class CheckResult : std::uint8_t {
        fine,    // nothing to do
        closer,  // quiet: collect the evidence that needs a system call, then call classify()
        silent,  // the peer's own TTL has expired
    };
    [[nodiscard]] CheckResult check(Time now, const Heard& heard) noexcept;

    struct Signs {
        std::uint64_t bytes_written = 0;   // total
        std::uint64_t unacknowledged = 0;  // of bytes_written
        bool has_backlog = false;          // more data is pending
        std::optional<Milliseconds> acknowledged_ago;
    };
    enum class Verdict : std::uint8_t { fine, ping, silent };
    [[nodiscard]] Verdict classify(Time now, const Signs& signs) noexcept;

    /// Records that a PING was added or, if `wire_bytes` is 0, that an earlier one is still pending. From then on the
    /// peer has at least the interval or the timeout, whichever is shorter, to respond.
    void ping_sent(Time now, std::size_t wire_bytes) noexcept;
    /// Records when the PING was sent, to measure the round trip.
    void ping_left(Time now) noexcept { unanswered_ = now; }
    /// Records a PONG. Its context is not compared, because not all peers return it.
    void pong_received(Time now) noexcept;
    /// Records a PING with a TTL: more bytes must arrive from the peer within it. 0: no TTL.
    void set_ttl(Milliseconds ttl, std::uint64_t bytes_received) noexcept;

    [[nodiscard]] Milliseconds silent(Time now, std::uint64_t bytes_received) const noexcept;
    [[nodiscard]] std::optional<std::chrono::microseconds> round_trip() const noexcept { return round_trip_; }

  private:
    const Milliseconds interval_;
    const Milliseconds timeout_;
    bool peer_knows_ping_ = true;
    Time heard_{};                          // last time bytes arrived
    Time alive_{};                          // last evidence that the peer is alive
    std::uint64_t bytes_received_ = 0;      // at the last check()
    bool quiet_ = false;                    // no bytes have arrived since the last classify()
    std::uint64_t bytes_acknowledged_ = 0;  // bytes acknowledged by the peer's machine at that time
    std::uint64_t ping_bytes_ = 0;          // PING bytes sent since then
    std::optional<Time> ping_sent_;         // time of the last PING; empty once bytes have arrived
    std::optional<Time> waiting_since_;     // time of the first PING, or of pending data, since the last such evidence
    std::optional<Time> unanswered_;        // time of the PING that the next PONG answers
    Milliseconds ttl_{0};                   // 0: no TTL is running
    std::uint64_t ttl_bytes_received_ = 0;
    std::optional<std::chrono::microseconds> round_trip_;
};

}  // namespace telegate
