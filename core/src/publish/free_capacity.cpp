#include "publish/free_capacity.hpp"

#include "session/outbox.hpp"
#include "session/session.hpp"

#include <algorithm>

namespace telegate {

LaneProgress progress_of(const PeerTable& peers) noexcept {
    LaneProgress progress{LaneProgress::nothing_waits, limits::backlog_runs_max};
    for (const auto& session : peers.sessions()) {
        const Backlog& backlog = session->outbox()->backlog();
        progress.oldest = std::min(progress.oldest, backlog.oldest_position().value_or(LaneProgress::nothing_waits));
        progress.runs_left = std::min<std::uint64_t>(progress.runs_left, backlog.runs_left());
    }
    return progress;
}

/// Requests a report from the threads that are full when they have capacity. A thread with capacity gets no request:
/// until more is published it would report immediately, again and again.
bool FreeCapacity::look(std::uint64_t end, std::uint64_t given) noexcept {
    if (see(end, given)) {
        return true;
    }
    // A message larger than the backlog is sent when nothing is pending.
    const bool fits = end <= log_.position() + tail_.open_bytes() + backlog_bytes_max_;
    const std::uint64_t oldest_wanted = fits ? end - std::min(end, backlog_bytes_max_) : LaneProgress::nothing_waits;
    for (const auto& lane : lanes_) {
        const LaneProgress progress = lane->progress();
        if (progress.oldest < oldest_wanted || progress.runs_left == 0) {
            lane->await_room(oldest_wanted);
        }
    }
    return !lanes_.empty() && see(end, given);
}

bool FreeCapacity::see(std::uint64_t end, std::uint64_t given) noexcept {
    LaneProgress progress = progress_of(peers_);
    for (const auto& lane : lanes_) {
        const LaneProgress theirs = lane->progress();
        progress.oldest = std::min(progress.oldest, theirs.oldest);
        progress.runs_left = std::min(progress.runs_left, theirs.runs_left);
    }
    const bool anything_waits = progress.oldest != LaneProgress::nothing_waits;
    oldest_ = std::min(progress.oldest, log_.position() + tail_.open_bytes());
    given_max_ = given + progress.runs_left;
    return !anything_waits || is_known(end, given);  // a message larger than the backlog is sent alone
}

}  // namespace telegate
