#pragma once

#include "core/bytes.hpp"
#include "core/limits.hpp"
#include "peers/peer_table.hpp"
#include "session/outbox.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace telegate {

/// Throws std::invalid_argument for a message without frames.
void check_frames(std::span<const Bytes> frames);

/// What all routes of one socket share.
struct RouteContext {
    RouteContext(PeerTable& table_in, std::size_t backlog_bytes_max_in) noexcept
        : table(table_in),
          flushes(table_in.flushes()),
          backlog_bytes_max(backlog_bytes_max_in),
          flush_bytes(std::clamp(backlog_bytes_max_in / 4, limits::flush_bytes_in_process, limits::flush_bytes)) {}

    PeerTable& table;
    const std::uint64_t& flushes;
    const std::size_t backlog_bytes_max;  // waiting for one peer
    /// Written at once when so much has come together: a quarter of what may wait, so that there is room again long
    /// before it is needed. When little may wait, room is made only at the end of the turn.
    const std::size_t flush_bytes;
};

/// The way to one peer of a Router or Dealer: what waits for it, and its session while there is one.
///
/// Threads: the reactor's.
/// Limits:  backlog_bytes_max; an empty outbox takes any message.
/// Failure: send() may throw std::bad_alloc, and may end the session.
class Route {
  public:
    /// To a peer that is not there yet.
    explicit Route(std::shared_ptr<Outbox> outbox) noexcept : outbox_(std::move(outbox)) {}
    explicit Route(Session& session) : outbox_(session.outbox()), session_(&session) {}

    [[nodiscard]] Session* session() const noexcept { return session_; }
    [[nodiscard]] bool leads_to(const Outbox& outbox) const noexcept { return outbox_.get() == &outbox; }
    void attach(Session& session);
    void detach() noexcept { session_ = nullptr; }

    /// Sends frames or texts where nothing else is to be done. False, and nothing is done, otherwise, or when there are
    /// none: send() is to follow.
    template <class Frames>
    [[nodiscard]] bool send_on(const Frames& frames) noexcept {
        return outbox_->append_to_tail(frames);
    }
    /// The same for one short frame, in few steps; false for any other.
    template <class Frames>
    [[nodiscard]] bool send_short_on(const Frames& frames) noexcept {
        return frames.size() == 1 && outbox_->append_short_to_tail(*frames.begin());
    }
    /// Of one frame at least. False, and nothing is done, when there is no room. The route may be gone afterwards, with
    /// its session.
    [[nodiscard]] bool send(RouteContext& context, std::span<const Bytes> frames);
    /// Whether send() has been refused since the last call.
    [[nodiscard]] bool take_refused() noexcept { return std::exchange(has_refused_, false); }

  private:
    void open_tail(const RouteContext& context, std::size_t bytes_max) noexcept;

    std::shared_ptr<Outbox> outbox_;
    Session* session_ = nullptr;
    std::size_t unflushed_bytes_ = 0;  // since the last flush, but for those in the outbox's tail
    std::uint64_t tail_bytes_seen_ = 0;
    std::uint64_t marked_at_ = 0;  // PeerTable::flushes() when the session was last marked
    bool has_refused_ = false;
};

}  // namespace telegate
