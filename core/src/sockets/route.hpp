#pragma once

#include "core/limits.hpp"
#include "peers/peer_table.hpp"
#include "session/outbox.hpp"
#include "session/session.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace telegate {

/// Throws std::invalid_argument if a message has no frames.
void check_frames(std::size_t count);

/// The state that all routes of one socket share.
struct RouteContext {
    RouteContext(PeerTable& table_in, std::size_t backlog_bytes_max_in) noexcept
        : table(table_in),
          flushes(table_in.flushes()),
          backlog_bytes_max(backlog_bytes_max_in),
          flush_bytes(std::clamp(backlog_bytes_max_in / 4, limits::flush_bytes_in_process, limits::flush_bytes)) {}

    PeerTable& table;
    const std::uint64_t& flushes;
    const std::size_t backlog_bytes_max;  // pending for one peer
    /// When this many bytes are pending, they are written at once: a quarter of the limit, so that space becomes free
    /// long before it is needed. With a small limit, space becomes free only at the end of the event-loop iteration.
    const std::size_t flush_bytes;
};

/// The route to one peer of a Router or Dealer: its pending messages, and its session while there is one.
///
/// Threads: the reactor's thread.
/// Limits: backlog_bytes_max; an empty outbox accepts any message.
/// Failure: send() may throw std::bad_alloc, and may end the session.
class Route {
  public:
    /// Creates a route to a peer that is not connected yet.
    explicit Route(std::shared_ptr<Outbox> outbox) noexcept : outbox_(std::move(outbox)) {}
    explicit Route(Session& session) : outbox_(session.outbox()), session_(&session) {}

    [[nodiscard]] Session* session() const noexcept { return session_; }
    [[nodiscard]] bool leads_to(const Outbox& outbox) const noexcept { return outbox_.get() == &outbox; }
    void attach(Session& session);
    void detach() noexcept { session_ = nullptr; }

    /// Sends frames or texts if nothing else has to be done. Otherwise, or if there are none, returns false and does
    /// nothing; then call send().
    template <class Frames>
    [[nodiscard]] bool send_on(const Frames& frames) noexcept {
        return outbox_->append_at_cursor(frames);
    }
    /// Like send_on(), for one short frame, in a few steps. Returns false for any other message.
    template <class Frames>
    [[nodiscard]] bool send_short_on(const Frames& frames) noexcept {
        return frames.size() == 1 && outbox_->append_short_at_cursor(*frames.begin());
    }
    /// Sends at least one frame. Returns false and does nothing if the backlog is full. The route may be gone
    /// afterwards, together with its session.
    template <class Frames>
    [[nodiscard]] bool send(RouteContext& context, const Frames& frames) {
        const std::size_t bytes = zmtp::message_bytes(frames);
        if (!outbox_->has_room(bytes, context.backlog_bytes_max)) {
            has_refused_ = true;
            return false;
        }
        outbox_->append(frames);
        appended(context, bytes);
        return true;
    }
    /// Returns whether send() has been refused since the last call.
    [[nodiscard]] bool take_refused() noexcept { return std::exchange(has_refused_, false); }

  private:
    void appended(RouteContext& context, std::size_t bytes);
    void open_cursor(const RouteContext& context, std::size_t bytes_max) noexcept;

    std::shared_ptr<Outbox> outbox_;
    Session* session_ = nullptr;
    std::size_t unflushed_bytes_ = 0;  // since the last flush, except those in the outbox's cursor
    std::uint64_t cursor_bytes_seen_ = 0;
    std::uint64_t marked_at_ = 0;  // PeerTable::flushes() when the session was last marked
    bool has_refused_ = false;
};

}  // namespace telegate
