#include "session/heartbeat.hpp"

#include <algorithm>

namespace telegate {

using namespace std::chrono;

void Heartbeat::start(Time now, bool peer_knows_ping) noexcept {
    peer_knows_ping_ = peer_knows_ping;
    heard_ = now;
    alive_ = now;
}

Heartbeat::CheckResult Heartbeat::check(Time now, const Heard& heard) noexcept {
    if (heard.bytes_received != bytes_received_ || heard.has_unread) {
        bytes_received_ = heard.bytes_received;
        heard_ = now;
        alive_ = now;
        quiet_ = false;
        ping_sent_.reset();
        waiting_since_.reset();
    }
    // The TTL runs from the PING to the next bytes: a peer may send PING only while it receives nothing.
    if (heard.bytes_received != ttl_bytes_received_) {
        ttl_ = Milliseconds(0);
    }
    if (ttl_.count() > 0 && now - heard_ >= ttl_) {
        return CheckResult::silent;
    }
    return interval_.count() > 0 && now - heard_ >= interval_ ? CheckResult::closer : CheckResult::fine;
}

Heartbeat::Verdict Heartbeat::classify(Time now, const Signs& signs) noexcept {
    const std::uint64_t bytes_acknowledged = signs.bytes_written - signs.unacknowledged;
    // Acknowledged PINGs are not evidence, so more bytes than theirs must have been acknowledged.
    if (!quiet_ || bytes_acknowledged > bytes_acknowledged_ + ping_bytes_) {
        alive_ = quiet_ ? now : alive_;
        quiet_ = true;
        bytes_acknowledged_ = bytes_acknowledged;
        ping_bytes_ = 0;
    }
    if (signs.acknowledged_ago && (signs.has_backlog || signs.unacknowledged > ping_bytes_)) {
        alive_ = std::max(alive_, now - *signs.acknowledged_ago);
    }
    if (waiting_since_ && *waiting_since_ <= alive_) {
        waiting_since_.reset();
    }
    if (!peer_knows_ping_) {
        if (signs.has_backlog || signs.unacknowledged > 0) {
            waiting_since_ = waiting_since_.value_or(now);
        } else {
            alive_ = now;
            waiting_since_.reset();
        }
    }
    if (now - alive_ >= timeout_ && waiting_since_ && now - *waiting_since_ >= std::min(interval_, timeout_)) {
        return Verdict::silent;
    }
    if (!peer_knows_ping_) {
        return Verdict::fine;
    }
    return ping_sent_ && now - *ping_sent_ < interval_ ? Verdict::fine : Verdict::ping;
}

void Heartbeat::ping_sent(Time now, std::size_t wire_bytes) noexcept {
    ping_sent_ = now;
    waiting_since_ = waiting_since_.value_or(now);
    ping_bytes_ += wire_bytes;
}

void Heartbeat::pong_received(Time now) noexcept {
    if (unanswered_) {
        round_trip_ = duration_cast<microseconds>(now - *unanswered_);
        unanswered_.reset();
    }
}

void Heartbeat::set_ttl(Milliseconds ttl, std::uint64_t bytes_received) noexcept {
    ttl_ = ttl;
    ttl_bytes_received_ = bytes_received;
}

Heartbeat::Milliseconds Heartbeat::silent(Time now, std::uint64_t bytes_received) const noexcept {
    if (bytes_received != bytes_received_ || now <= alive_) {
        return Milliseconds(0);
    }
    return duration_cast<Milliseconds>(now - alive_);
}

}  // namespace telegate
