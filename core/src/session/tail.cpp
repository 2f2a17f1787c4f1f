#include "session/tail.hpp"

#include "core/assert.hpp"
#include "session/outbox.hpp"

#include <algorithm>

namespace telegate {

void Tail::open(SegmentLog& log, std::span<Outbox* const> readers, std::size_t bytes_max) noexcept {
    TELEGATE_ASSERT(!is_open());
    const std::span<std::byte> room = log.room();
    begin_ = room.data();
    next_ = begin_;
    segment_end_ = begin_ + room.size();
    limit_ = begin_ + std::min(bytes_max, room.size());
    log_ = &log;
    readers_ = readers;
}

void Tail::close() noexcept {
    const std::size_t bytes = open_bytes();
    next_ = nullptr;  // first, because the outboxes check it
    limit_ = nullptr;
    segment_end_ = nullptr;
    begin_ = nullptr;
    if (bytes == 0) {
        return;
    }
    const Slice added = log_->commit(bytes);
    const std::uint64_t messages = messages_ - messages_settled_;
    for (Outbox* const reader : readers_) {
        reader->extend(added, messages);
    }
    messages_settled_ = messages_;
    bytes_settled_ += bytes;
}

}  // namespace telegate
