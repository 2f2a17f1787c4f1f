#include "publish/lag_limit.hpp"

#include "session/slow_reader.hpp"

#include "core/client_shares.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view reads_too_slowly = "reads too slowly";

}  // namespace

LagLimit::Limits LagLimit::limits_of(const PublisherOptions& options) noexcept {
    return {options.backlog_bytes_max, std::max(limits::held_bytes_max / options.io_threads, options.backlog_bytes_max),
            limits::kept_apart_bytes_max, 2 * options.io_threads};
}

LagLimit::Limits LagLimit::shard_limits_of(const PublisherOptions& options) noexcept {
    Limits limits = limits_of(options);
    limits.kept_apart_bytes_max /= options.io_threads;
    limits.backlogs = 2;
    return limits;
}

LagLimit::LagLimit(Reactor& reactor, PeerTable& peers, Limits limits)
    : peers_(peers),
      limits_(limits),
      largest_(limits.backlog_bytes_max),
      later_keep_(reactor, [this] { keep_all_within(); }),
      later_close_(reactor, [this] { close_too_slow(); }) {}

/// Dropping takes longer than publishing. A subscriber that may be over its limit for a moment drops its messages after
/// the flush, so that it delays no other subscriber.
void LagLimit::enforce(std::uint64_t log_end) {
    log_end_ = log_end;
    const std::uint64_t log_end_before = log_end - std::min<std::uint64_t>(log_end, peers_.segments().segment_bytes());
    bool keep_apart = false;
    limit_slow();
    for (const auto& session : peers_.sessions()) {
        Outbox& outbox = *session->outbox();
        const SlowReader* const slow = outbox.slow();
        if (slow == nullptr) {
            outbox.drop_before(log_end - std::min<std::uint64_t>(log_end, limits_.backlog_bytes_max));
        } else if (slow->is_over(log_end_before) || (slow->is_over(log_end) && !slow->can_be_over())) {
            keep_within(*session);
        } else if (slow->is_over(log_end) || slow->is_due_to_conflate()) {
            later_keep_.schedule();
        }
        keep_apart = keep_apart || (slow != nullptr && slow->keeps_apart());
    }
    if (keep_apart) {
        enforce_kept_limit();
    }
    enforce_held_limit();
}

/// Cuts off the newest sessions of the clients with the most slow sessions until slow_max remain.
void LagLimit::limit_slow() {
    slow_.clear();
    for (const auto& session : peers_.sessions()) {
        SlowReader* const slow = session->outbox()->slow();
        if (slow != nullptr && session->state() == Session::State::open && slow->count_segment() >= slow_segments_min) {
            slow_.push_back(session.get());
        }
    }
    if (slow_.size() <= slow_max) {
        return;
    }
    ClientShares shares;
    for (const Session* const session : slow_) {
        shares.add(session->client());
    }
    std::sort(slow_.begin(), slow_.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
    while (slow_.size() > slow_max) {
        const std::string client(shares.most().client);
        const auto newest = std::find_if(slow_.rbegin(), slow_.rend(),
                                         [&](const Session* session) { return session->client() == client; });
        shares.remove(client);
        too_many_.push_back((*newest)->id());
        later_close_.schedule();
        (*newest)->cut_off();
        slow_.erase(std::prev(newest.base()));
    }
}

void LagLimit::keep_all_within() {
    peers_.flush();
    for (const auto& session : peers_.sessions()) {
        SlowReader* const slow = session->outbox()->slow();
        if (slow != nullptr && slow->is_over(log_end_)) {
            keep_within(*session);
        } else if (slow != nullptr && slow->is_due_to_conflate()) {
            slow->conflate();
        }
    }
    enforce_kept_limit();
}

/// Flushes first: what was published in this iteration may not have been offered to the subscriber yet. A subscriber
/// that reads fast then loses nothing, however small its limit is.
void LagLimit::keep_within(Session& session) {
    SlowReader& slow = *session.outbox()->slow();
    if (session.state() == Session::State::open) {
        session.flush();
    }
    if (slow.is_over(log_end_) && !slow.keep_within(log_end_)) {
        cut_off(session);
    }
}

void LagLimit::cut_off(Session& session) {
    too_slow_.push_back(session.id());
    later_close_.schedule();
    session.cut_off();
}

/// Drops the largest backlog first, since that frees the most memory.
void LagLimit::enforce_kept_limit() {
    const std::size_t bytes_max = limits_.kept_apart_bytes_max + limits_.backlogs * largest_;
    while (peers_.segments().memory_bytes() > bytes_max) {
        Session* largest = nullptr;
        std::size_t most = 0;
        for (const auto& session : peers_.sessions()) {
            const SlowReader* const slow = session->outbox()->slow();
            if (slow != nullptr && slow->keeps_apart() && session->outbox()->backlog().has_waiting() &&
                (largest == nullptr || slow->bytes_apart() > most)) {
                largest = session.get();
                most = slow->bytes_apart();
            }
        }
        if (largest == nullptr) {
            return;
        }
        largest->outbox()->slow()->drop_pending();
    }
}

/// A subscriber that is in the middle of a large message that the log has dropped keeps its segment. Those that are
/// furthest behind lose it immediately, however long this iteration lasts, and are closed later. Those in the latest
/// such message keep it: otherwise a single message over the limit would reach no subscriber.
void LagLimit::enforce_held_limit() {
    while (peers_.segments().held_bytes() > std::max(limits_.held_bytes_max, largest_)) {
        Session* farthest = nullptr;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        for (const auto& session : peers_.sessions()) {
            const auto position = session->outbox()->backlog().held_position();
            if (!position) {
                continue;
            }
            last = std::max(last, *position);
            if (farthest == nullptr || *position < first) {
                farthest = session.get();
                first = *position;
            }
        }
        if (farthest == nullptr || first == last) {
            return;
        }
        cut_off(*farthest);
    }
}

void LagLimit::close_too_slow() {
    for (const std::uint64_t id : std::exchange(too_many_, {})) {
        if (Session* session = peers_.find(id)) {
            session->close(too_many_slow_subscribers);
        }
    }
    for (const std::uint64_t id : std::exchange(too_slow_, {})) {
        if (Session* session = peers_.find(id)) {
            session->close(reads_too_slowly);
        }
    }
}

}  // namespace telegate
