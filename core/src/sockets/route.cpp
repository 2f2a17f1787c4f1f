#include "sockets/route.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace telegate {

void Route::attach(Session& session) {
    outbox_ = session.outbox();
    outbox_->settle();  // so that the next message causes a flush of the session
    session_ = &session;
    unflushed_bytes_ = 0;
    marked_at_ = 0;
}

void check_frames(std::size_t count) {
    if (count == 0) {
        throw std::invalid_argument("message has no frames: at least one is required");
    }
}

/// Flushes the message that was just appended, at once or together with later ones. `bytes`: its size.
void Route::appended(RouteContext& context, std::size_t bytes) {
    if (session_ == nullptr) {
        return open_cursor(context, std::numeric_limits<std::size_t>::max());
    }
    unflushed_bytes_ += bytes + static_cast<std::size_t>(outbox_->cursor_bytes() - cursor_bytes_seen_);
    cursor_bytes_seen_ = outbox_->cursor_bytes();
    if (marked_at_ != context.flushes) {  // once per batch, not per message
        unflushed_bytes_ = bytes;
        context.table.flush_soon(*session_);
        marked_at_ = context.flushes;
    }
    const bool is_long_in_process = session_->stays_in_process() && bytes > limits::short_bytes_in_process;
    const std::size_t flush_bytes = is_long_in_process ? limits::flush_bytes_in_process : context.flush_bytes;
    if (unflushed_bytes_ >= flush_bytes) {
        unflushed_bytes_ = 0;
        session_->flush();
    } else {
        open_cursor(context, flush_bytes - unflushed_bytes_);
    }
}

/// Opens the cursor, within which further messages need no check of the limits.
void Route::open_cursor(const RouteContext& context, std::size_t bytes_max) noexcept {
    const std::size_t waiting = std::min(outbox_->backlog().bytes(), context.backlog_bytes_max);
    outbox_->open_cursor(std::min(bytes_max, context.backlog_bytes_max - waiting));
}

}  // namespace telegate
