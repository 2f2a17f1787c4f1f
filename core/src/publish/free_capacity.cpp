#include "publish/free_capacity.hpp"

#include "session/outbox.hpp"
#include "session/session.hpp"

#include <algorithm>

namespace telegate {

ReadProgress progress_of(const PeerTable& peers) noexcept {
    ReadProgress progress{ReadProgress::nothing_waits, limits::backlog_runs_max};
    for (const auto& session : peers.sessions()) {
        const Backlog& backlog = session->outbox()->backlog();
        progress.oldest = std::min(progress.oldest, backlog.oldest_position().value_or(ReadProgress::nothing_waits));
        progress.runs_left = std::min<std::uint64_t>(progress.runs_left, backlog.runs_left());
    }
    return progress;
}

/// Requests a report from the threads that are full when they have capacity. A thread with capacity gets no request:
/// until more is published it would report immediately, again and again.
bool FreeCapacity::refresh(std::uint64_t end, std::uint64_t added) noexcept {
    if (read_progress(end, added)) {
        return true;
    }
    // A message larger than the backlog is sent when nothing is pending.
    const bool fits = end <= log_.position() + cursor_.open_bytes() + backlog_bytes_max_;
    const std::uint64_t oldest_wanted = fits ? end - std::min(end, backlog_bytes_max_) : ReadProgress::nothing_waits;
    for (const auto& queue : queues_) {
        const ReadProgress progress = queue->progress();
        if (progress.oldest < oldest_wanted || progress.runs_left == 0) {
            queue->await_room(oldest_wanted);
        }
    }
    return !queues_.empty() && read_progress(end, added);
}

bool FreeCapacity::read_progress(std::uint64_t end, std::uint64_t added) noexcept {
    ReadProgress progress = progress_of(peers_);
    for (const auto& queue : queues_) {
        const ReadProgress theirs = queue->progress();
        progress.oldest = std::min(progress.oldest, theirs.oldest);
        progress.runs_left = std::min(progress.runs_left, theirs.runs_left);
    }
    const bool anything_waits = progress.oldest != ReadProgress::nothing_waits;
    oldest_ = std::min(progress.oldest, log_.position() + cursor_.open_bytes());
    added_max_ = added + progress.runs_left;
    return !anything_waits || is_known(end, added);  // a message larger than the backlog is sent alone
}

}  // namespace telegate
