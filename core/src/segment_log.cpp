#include "segment_log.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

SegmentRef& SegmentRef::operator=(SegmentRef&& other) noexcept {
    if (this != &other) {
        reset();
        segment_ = std::exchange(other.segment_, nullptr);
    }
    return *this;
}

void SegmentRef::reset() noexcept {
    Segment* segment = std::exchange(segment_, nullptr);
    if (segment != nullptr && --segment->refs == 0) {
        segment->log->recycle(segment);
    }
}

SegmentLog::SegmentLog(std::size_t segment_bytes) : segment_bytes_(segment_bytes) {
    spare_.reserve(spare_segments_max);
}

SegmentLog::~SegmentLog() {
    current_.reset();
}

std::byte* SegmentLog::prepare(std::size_t bytes_max) {
    if (current_.get() == nullptr || current_->capacity - current_->used < bytes_max) {
        open_segment(bytes_max);
    }
    return current_->bytes.get() + current_->used;
}

Slice SegmentLog::commit(std::size_t bytes) noexcept {
    Segment* segment = current_.get();
    TELEGATE_ASSERT(segment != nullptr && bytes <= segment->capacity - segment->used);
    const std::uint32_t begin = segment->used;
    segment->used += static_cast<std::uint32_t>(bytes);
    return {segment, begin, segment->used};
}

void SegmentLog::open_segment(std::size_t bytes_min) {
    TELEGATE_ASSERT(bytes_min <= UINT32_MAX);
    current_.reset();  // first, so that a segment nobody reads is the one taken next
    std::unique_ptr<Segment> segment;
    if (bytes_min <= segment_bytes_ && !spare_.empty()) {
        segment = std::move(spare_.back());
        spare_.pop_back();
    } else {
        const std::size_t capacity = std::max(segment_bytes_, bytes_min);
        segment = std::make_unique<Segment>();
        segment->capacity = static_cast<std::uint32_t>(capacity);
        segment->log = this;
        segment->bytes = std::make_unique_for_overwrite<std::byte[]>(capacity);
        memory_bytes_ += capacity;
    }
    segment->used = 0;
    segment->start = end_;
    end_ += segment->capacity;
    ++segments_opened_;
    current_ = SegmentRef(segment.release());
}

void SegmentLog::recycle(Segment* segment) noexcept {
    std::unique_ptr<Segment> owned(segment);
    if (owned->capacity == segment_bytes_ && spare_.size() < spare_segments_max) {
        spare_.push_back(std::move(owned));  // never allocates: reserved at construction
        return;
    }
    memory_bytes_ -= owned->capacity;
}

}  // namespace telegate
