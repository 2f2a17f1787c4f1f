#include "store/log_index.hpp"

#include "store/published_mark.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

/// Returns the samples published before the first block at or after `from` that has any and can be read, and its index.
std::optional<std::pair<std::size_t, std::uint64_t>> first_published(const SegmentReader& segment, std::size_t from,
                                                                     std::size_t end) {
    BlockHead head;
    ByteBuffer payload;
    for (; from < end; ++from) {
        const BlockEntry& block = segment.index().blocks[from];
        if (block.samples > 0 &&
            segment.read_block(block, SegmentReader::Part::head, head, payload) == SegmentReader::Result::intact) {
            return std::pair(from, head.published_before);
        }
    }
    return std::nullopt;
}

}  // namespace

std::int64_t newest_epoch_ms(FileSystem& files, const std::string& directory) {
    std::int64_t newest_ms = 0;
    const auto add = [&](const SegmentHead& head) {
        if (head.epoch_ms <= epoch_ms_max) {
            newest_ms = std::max(newest_ms, head.epoch_ms);
        }
    };
    PublishedMark::for_each(files, directory, [&](const SegmentReader& mark) { add(mark.head()); });
    std::vector<SegmentRef> segments;
    try {
        segments = list_segments(files, directory);
    } catch (const std::system_error&) {
        return newest_ms;  // the log will report that
    }
    for (const SegmentRef& segment : segments) {
        try {
            if (const auto head = SegmentReader::head(files, directory + "/" + segment.name)) {
                add(*head);
            }
        } catch (const std::system_error&) {
            continue;  // the others may be readable
        }
    }
    return newest_ms;
}

std::unique_ptr<SegmentReader> LogIndex::open(const SegmentRef& segment) const {
    return SegmentReader::open(files_, directory_ + "/" + segment.name);
}

std::vector<SegmentRef> LogIndex::segments_of(std::int64_t epoch_ms) {
    std::vector<SegmentRef> segments = list_segments(files_, directory_);
    oldest_ = segments.empty() ? 0 : segments.front().first_position;
    epochs_.erase(epochs_.begin(), epochs_.lower_bound(oldest_));
    std::erase_if(segments, [&](const SegmentRef& segment) {
        auto known = epochs_.find(segment.first_position);
        if (known == epochs_.end()) {
            const auto head = SegmentReader::head(files_, directory_ + "/" + segment.name);
            if (!head) {
                return true;
            }
            known = epochs_.emplace(segment.first_position, head->epoch_ms).first;
        }
        return known->second != epoch_ms;
    });
    return segments;
}

/// Returns the last segment of an epoch, of those that `is_before` is true for; the first one if there are none.
template <class IsBefore>
std::optional<SegmentRef> LogIndex::last_before(std::int64_t epoch_ms, const IsBefore& is_before) {
    const std::vector<SegmentRef> segments = segments_of(epoch_ms);
    if (segments.empty()) {
        return std::nullopt;
    }
    const auto later = std::partition_point(segments.begin() + 1, segments.end(), [&](const SegmentRef& segment) {
        const auto reader = open(segment);
        return reader != nullptr && is_before(*reader);
    });
    return *(later - 1);
}

/// Returns where to start so that everything missing before the segment is reported.
Position LogIndex::start_of(const SegmentReader& segment) const {
    const SegmentHead& head = segment.head();
    return head.first_position == oldest_ && !head.begins_epoch ? 0 : head.first_position;
}

std::optional<Position> LogIndex::find(std::int64_t epoch_ms, std::uint64_t published) {
    const auto is_before = [&](const SegmentReader& segment) {
        const auto first = first_published(segment, 0, segment.index().blocks.size());
        return first && first->second <= published;
    };
    const auto found = last_before(epoch_ms, is_before);
    const auto segment = found ? open(*found) : nullptr;
    if (segment == nullptr) {
        return found ? std::optional(found->first_position) : std::nullopt;
    }
    std::size_t low = 0;  // blocks before it begin at `published` or earlier
    std::size_t high = segment->index().blocks.size();
    std::optional<Position> position;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const auto first = first_published(*segment, middle, high);
        if (first && first->second <= published) {
            position = segment->index().blocks[first->first].position;
            low = first->first + 1;
        } else {
            high = middle;
        }
    }
    return position.value_or(start_of(*segment));
}

std::optional<Position> LogIndex::find(std::int64_t epoch_ms, const FirstWanted& wanted) {
    const auto is_before = [&](const SegmentReader& segment) {
        const std::vector<SegmentChannel>& channels = segment.index().definitions;
        return std::all_of(channels.begin(), channels.end(), [&](const SegmentChannel& channel) {
            const std::uint64_t first = wanted(channel);
            return first == 0 || channel.last_seq < first;
        });
    };
    const auto found = last_before(epoch_ms, is_before);
    const auto segment = found ? open(*found) : nullptr;
    return segment != nullptr ? std::optional(start_of(*segment))
           : found            ? std::optional(found->first_position)
                              : std::nullopt;
}

std::int64_t LogIndex::epoch_after(std::int64_t epoch_ms) {
    static_cast<void>(segments_of(epoch_ms));
    std::int64_t next_ms = 0;
    for (const auto& [position, each_ms] : epochs_) {
        next_ms = each_ms > epoch_ms && (next_ms == 0 || each_ms < next_ms) ? each_ms : next_ms;
    }
    return next_ms;
}

}  // namespace telegate::store
