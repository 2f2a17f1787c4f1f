#include "transport/inproc/inproc_in_flight.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace telegate::transport {

void InprocInFlight::add(SegmentRef segment, Block block, std::size_t bytes) {
    TELEGATE_ASSERT(!is_full());
    if (!entries_) {
        entries_ = std::make_unique<Entries>();
    }
    Entry& entry = at(end_++);
    entry.segment = std::move(segment);
    entry.block = std::move(block);
    entry.bytes = bytes;
    bytes_ += bytes;
}

void InprocInFlight::extend(std::size_t bytes) noexcept {
    at(end_ - 1).bytes += bytes;
    bytes_ += bytes;
}

const Segment* InprocInFlight::last_segment() const noexcept {
    return begin_ == end_ ? nullptr : at(end_ - 1).segment.get();
}

void InprocInFlight::release_before(std::uint64_t count) noexcept {
    for (; begin_ < std::min(count, end_); ++begin_) {
        Entry& entry = at(begin_);
        bytes_ -= std::exchange(entry.bytes, 0);
        entry.segment.reset();
        entry.block.reset();
    }
}

std::uint64_t InprocInFlight::count_for_half(std::size_t bytes_max) const noexcept {
    std::size_t bytes = bytes_;
    std::uint64_t count = begin_;
    while (count < end_ && (bytes > bytes_max / 2 || end_ - count > limits::inproc_parts_max / 2)) {
        bytes -= at(count++).bytes;
    }
    return count;
}

void InprocInFlight::leave_behind(std::vector<Block>& memory) {
    const Segment* before = nullptr;
    for (std::uint64_t position = begin_; position < end_; ++position) {
        Entry& entry = at(position);
        Segment* segment = entry.segment.get();
        if (segment == nullptr) {
            memory.push_back(std::move(entry.block));
        } else if (segment != std::exchange(before, segment)) {
            segment->left_behind = true;
            memory.push_back(segment->bytes);
        }
    }
    release_before(end_);
}

}  // namespace telegate::transport
