#include "session/write_cursor.hpp"

#include "core/assert.hpp"
#include "session/outbox.hpp"

#include <algorithm>

namespace telegate {

void WriteCursor::open(SegmentLog& log, std::span<Outbox* const> readers, std::size_t bytes_max) noexcept {
    TELEGATE_ASSERT(!is_open());
    const Segment& segment = *log.segment();
    segment_begin_ = segment.bytes.get();
    segment_end_ = segment_begin_ + segment.limit;
    begin_ = segment_begin_ + segment.used;
    next_ = begin_;
    limit_ = begin_ + std::min<std::size_t>(bytes_max, segment.limit - segment.used);
    log_ = &log;
    readers_ = readers;
}

void WriteCursor::close() noexcept {
    const std::size_t bytes = open_bytes();
    const auto limit = static_cast<std::uint32_t>(segment_end_ - segment_begin_);
    next_ = nullptr;  // first, because the outboxes check it
    limit_ = nullptr;
    segment_end_ = nullptr;
    segment_begin_ = nullptr;
    begin_ = nullptr;
    if (bytes == 0) {
        return;
    }
    const Slice added = log_->commit(bytes);
    added.segment->limit = limit;
    const std::uint64_t messages = messages_ - messages_settled_;
    for (Outbox* const reader : readers_) {
        reader->extend(added, messages);
    }
    messages_settled_ = messages_;
    bytes_settled_ += bytes;
}

}  // namespace telegate
