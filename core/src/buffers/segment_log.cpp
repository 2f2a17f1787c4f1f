#include "buffers/segment_log.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace telegate {

std::span<const LoggedSamples> samples_of(const Slice& messages) noexcept {
    const Segment& segment = *messages.segment;
    const std::byte* const list = segment.bytes.get() + segment.limit + segment_slack_bytes;
    const std::span all(reinterpret_cast<const LoggedSamples*>(list),
                        (segment.capacity - segment.limit) / sizeof(LoggedSamples));
    const auto is_at_or_after = [](std::uint32_t offset) {
        return [offset](const LoggedSamples& samples) {
            return samples.offset >= offset;
        };
    };
    const auto newest = std::partition_point(all.begin(), all.end(), is_at_or_after(messages.end));
    return {newest, std::partition_point(newest, all.end(), is_at_or_after(messages.begin))};
}

SegmentRef& SegmentRef::operator=(SegmentRef&& other) noexcept {
    if (this != &other) {
        reset();
        segment_ = std::exchange(other.segment_, nullptr);
    }
    return *this;
}

void SegmentRef::recycle(Segment* segment) noexcept {
    segment->pool->recycle(segment);
}

void SegmentHold::set(Segment* segment) noexcept {
    reset();
    segment_ = segment;
    if (segment_->holds++ == 0) {
        segment_->pool->held_bytes_ += segment_->capacity;
    }
}

void SegmentHold::reset() noexcept {
    Segment* segment = std::exchange(segment_, nullptr);
    if (segment != nullptr && --segment->holds == 0) {
        segment->pool->held_bytes_ -= segment->capacity;
    }
}

SegmentPool::SegmentPool(std::size_t segment_bytes) : segment_bytes_(segment_capacity(segment_bytes)) {
    spare_.reserve(spare_max + round_min);
    small_spare_.reserve(small_spare_max);
    medium_spare_.reserve(spare_max);
}

SegmentPool::~SegmentPool() {
    for (const Spare* spare : {&spare_, &small_spare_, &medium_spare_}) {
        for (const auto& segment : *spare) {
            memory_bytes_ -= segment->capacity;
        }
    }
    TELEGATE_ASSERT(memory_bytes_ == 0);  // no segment may outlive its pool
}

SegmentRef SegmentPool::acquire(std::size_t message_bytes, std::size_t samples_bytes) {
    const std::size_t capacity = std::max(segment_bytes_, segment_capacity(message_bytes + samples_bytes));
    if (readers_in_process_ == 0 || message_bytes > limits::short_bytes_in_process) {
        return acquire_from(spare_, capacity);
    }
    const bool has_rested = spare_.size() >= round_min;
    if (has_rested) {
        std::rotate(spare_.begin(), spare_.begin() + 1, spare_.end());
    }
    SegmentRef segment = has_rested ? acquire_from(spare_, capacity) : make(capacity);
    segment->goes_round = true;
    return segment;
}

void SegmentPool::remove_reader_in_process() noexcept {
    --readers_in_process_;
    while (spare_.size() > usual_spare_max()) {
        memory_bytes_ -= spare_.back()->capacity;
        spare_.pop_back();
    }
}

SegmentRef SegmentPool::acquire_small(std::size_t message_bytes, std::size_t samples_bytes) {
    const bool fits = message_bytes + samples_bytes <= small_bytes && small_bytes < segment_bytes_;
    return fits ? acquire_from(small_spare_, small_bytes) : acquire(message_bytes, samples_bytes);
}

SegmentRef SegmentPool::acquire_medium(std::size_t message_bytes, std::size_t samples_bytes) {
    const bool fits = message_bytes + samples_bytes <= medium_bytes && medium_bytes < segment_bytes_;
    return fits ? acquire_from(medium_spare_, medium_bytes) : acquire(message_bytes, samples_bytes);
}

SegmentRef SegmentPool::acquire_from(Spare& spare, std::size_t capacity) {
    if (spare.empty() || spare.back()->capacity != capacity) {
        return make(capacity);
    }
    std::unique_ptr<Segment> segment = std::move(spare.back());
    spare.pop_back();
    segment->limit = segment->capacity;
    segment->used = 0;
    segment->goes_round = false;
    return SegmentRef(segment.release());
}

SegmentRef SegmentPool::make(std::size_t capacity) {
    // Offsets have 32 bits, and no object is larger than half of all addresses.
    constexpr auto capacity_max = std::min<std::uint64_t>(UINT32_MAX, std::numeric_limits<std::ptrdiff_t>::max());
    if (capacity > capacity_max) {
        throw std::length_error("message too large: " + std::to_string(capacity) + " bytes; must be at most " +
                                std::to_string(capacity_max) + " bytes");
    }
    auto segment = std::make_unique<Segment>();
    segment->capacity = static_cast<std::uint32_t>(capacity);
    segment->limit = segment->capacity;
    segment->pool = this;
    segment->bytes = std::make_shared_for_overwrite<std::byte[]>(capacity + segment_slack_bytes);
    TELEGATE_ASSERT(reinterpret_cast<std::uintptr_t>(segment->bytes.get()) % alignof(LoggedSamples) == 0);
    memory_bytes_ += capacity;
    return SegmentRef(segment.release());
}

SegmentRef SegmentPool::borrow(std::shared_ptr<std::byte[]> bytes, std::uint64_t start, std::uint32_t capacity) {
    auto segment = std::make_unique<Segment>();
    segment->start = start;
    segment->capacity = capacity;
    segment->limit = capacity;
    segment->used = capacity;
    segment->pool = this;
    segment->bytes = std::move(bytes);
    segment->left_behind = true;
    memory_bytes_ += capacity;
    return SegmentRef(segment.release());
}

void SegmentPool::recycle(Segment* segment) noexcept {
    std::unique_ptr<Segment> owned(segment);
    if (owned->left_behind) {
        memory_bytes_ -= owned->capacity;
        return;
    }
    // No push_back allocates: the constructor has reserved the capacity.
    if (owned->capacity == segment_bytes_ && spare_.size() < usual_spare_max()) {
        return spare_.push_back(std::move(owned));
    }
    if (owned->capacity == small_bytes && small_spare_.size() < small_spare_max) {
        return small_spare_.push_back(std::move(owned));
    }
    if (owned->capacity == medium_bytes && medium_spare_.size() < spare_max) {
        return medium_spare_.push_back(std::move(owned));
    }
    memory_bytes_ -= owned->capacity;
}

void SegmentLog::open_segment(std::size_t message_bytes, std::size_t samples_bytes) {
    const std::size_t before = current_.get() == nullptr ? 0 : current_->capacity;
    current_.reset();  // first, so that a segment without readers can be reused
    if (first_ == First::usual || before > SegmentPool::small_bytes) {
        current_ = pool_.acquire(message_bytes, samples_bytes);
    } else {
        current_ = before == 0 ? pool_.acquire_small(message_bytes, samples_bytes)
                               : pool_.acquire_medium(message_bytes, samples_bytes);
    }
    current_->start = end_;
    end_ += current_->capacity;
    ++segments_opened_;
}

}  // namespace telegate
