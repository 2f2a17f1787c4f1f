#include "route.hpp"

#include <stdexcept>

namespace telegate {

void Route::attach(Session& session) {
    outbox_ = session.outbox();
    session_ = &session;
    unflushed_bytes_ = 0;
    marked_at_ = 0;
}

void check_frames(std::span<const Bytes> frames) {
    if (frames.empty()) {
        throw std::invalid_argument("a message has at least one frame");
    }
}

bool Route::send(RouteContext& context, std::span<const Bytes> frames) {
    const std::size_t bytes = Outbox::wire_bytes(frames);
    if (!outbox_->has_room(bytes, context.backlog_bytes_max)) {
        has_refused_ = true;
        return false;
    }
    outbox_->append(frames);
    if (session_ == nullptr) {
        return true;
    }
    unflushed_bytes_ += bytes;
    if (marked_at_ != context.flushes) {  // once per batch, not per message
        marked_at_ = context.flushes;
        context.table.flush_soon(*session_);
    }
    if (unflushed_bytes_ >= flush_bytes) {
        unflushed_bytes_ = 0;
        session_->flush();
    }
    return true;
}

}  // namespace telegate
