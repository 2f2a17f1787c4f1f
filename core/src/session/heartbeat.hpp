#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace telegate {

/// Judges whether a peer is alive, from what is seen of it now and then. Pure: is told the time.
///
/// Signs of life: bytes from the peer; bytes of ours that its machine took, other than PINGs, since those are taken for
/// a process that hangs, too; and while something waits for it, any acknowledgement, were it only of having no room. So
/// one that is slow is not taken for dead.
///
/// A peer of ZMTP 3.0 does not know PING and is not sent one. It is judged only while something waits for it; otherwise
/// TCP keepalive has to find out that its machine is gone.
///
/// Threads: one. Limits: none. Failure: none.
class Heartbeat {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Milliseconds = std::chrono::milliseconds;

    /// `interval` 0: neither asks the peer nor judges its silence, but for the TTL that the peer has asked for.
    Heartbeat(Milliseconds interval, Milliseconds timeout) noexcept : interval_(interval), timeout_(timeout) {}

    void start(Time now, bool peer_knows_ping) noexcept;

    /// Cheap signs.
    struct Heard {
        std::uint64_t bytes_received = 0;  // in all
        bool has_unread = false;           // something has come that nobody has looked at
    };
    enum class Look : std::uint8_t {
        fine,    // nothing to do
        closer,  // it has been quiet: find out the signs that cost a system call, then judge()
        silent,  // its own TTL is over
    };
    [[nodiscard]] Look look(Time now, const Heard& heard) noexcept;

    struct Signs {
        std::uint64_t bytes_written = 0;  // in all
        std::size_t unacknowledged = 0;   // of those
        bool has_backlog = false;         // more is to be written
        std::optional<Milliseconds> acknowledged_ago;
    };
    enum class Verdict : std::uint8_t { fine, ping, silent };
    [[nodiscard]] Verdict judge(Time now, const Signs& signs) noexcept;

    /// A PING was added, or still waits from before with `wire_bytes` 0. The peer has at least the interval or the
    /// timeout, whichever is less, to answer.
    void ping_sent(Time now, std::size_t wire_bytes) noexcept;
    /// From when the round trip is measured.
    void ping_left(Time now) noexcept { unanswered_ = now; }
    /// A PONG, whichever: not all peers return the context.
    void pong_received(Time now) noexcept;
    /// A PING with a TTL came: the peer is to be heard again within it. 0: no matter.
    void set_ttl(Milliseconds ttl, std::uint64_t bytes_received) noexcept;

    [[nodiscard]] Milliseconds silent(Time now, std::uint64_t bytes_received) const noexcept;
    [[nodiscard]] std::optional<std::chrono::microseconds> round_trip() const noexcept { return round_trip_; }

  private:
    const Milliseconds interval_;
    const Milliseconds timeout_;
    bool peer_knows_ping_ = true;
    Time heard_{};                      // bytes came
    Time alive_{};                      // or another sign of life
    std::uint64_t bytes_received_ = 0;  // at the last look
    bool quiet_ = false;                // nothing has come since the last judge()
    std::uint64_t bytes_taken_ = 0;     // by the peer's machine, when that was last a sign of life
    std::uint64_t ping_bytes_ = 0;      // sent since
    std::optional<Time> ping_sent_;     // of the last PING; empty once bytes have come
    std::optional<Time> asked_;         // of the first PING, or of what waits, since the last sign of life
    std::optional<Time> unanswered_;    // of the PING that the next PONG answers
    Milliseconds ttl_{0};               // 0: none is running
    std::uint64_t ttl_bytes_received_ = 0;
    std::optional<std::chrono::microseconds> round_trip_;
};

}  // namespace telegate
