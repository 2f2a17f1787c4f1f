#include "uplink/log_positions.hpp"

#include "store/log_reader.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <cstddef>

namespace telegate::uplink {
namespace {

/// A segment has far fewer entries, and a run after a crash continues after more.
constexpr store::Position skip_min = store::Position{1} << 30U;

/// Returns where the entries of a segment end; if it cannot be read, where they begin.
store::Position end_of(store::FileSystem& files, const std::string& directory, const store::SegmentRef& ref) {
    store::Position end = ref.first_position;
    if (const auto segment = store::SegmentReader::open(files, directory + "/" + ref.name)) {
        for (const store::BlockEntry& block : segment->index().blocks) {
            end = std::max(end, block.position + block.entries);
        }
    }
    return end;
}

}  // namespace

std::optional<store::LogId> log_id_of(store::FileSystem& files, const std::string& directory) {
    for (const store::SegmentRef& segment : store::list_segments(files, directory)) {
        if (const auto head = store::SegmentReader::head(files, directory + "/" + segment.name)) {
            return head->log_id;
        }
    }
    return std::nullopt;
}

store::Position block_begin(store::FileSystem& files, const std::string& directory, store::Position position) {
    const auto segments = store::list_segments(files, directory);
    const auto next = std::upper_bound(
        segments.begin(), segments.end(), position,
        [](store::Position wanted, const store::SegmentRef& each) { return wanted < each.first_position; });
    if (next == segments.begin()) {
        return position;
    }
    if (const auto segment = store::SegmentReader::open(files, directory + "/" + (next - 1)->name)) {
        for (const store::BlockEntry& block : segment->index().blocks) {
            if (block.position <= position && position < block.position + block.entries) {
                return block.position;
            }
        }
    }
    return position;
}

store::Position last_block_end(store::FileSystem& files, const std::string& directory, store::Position synced) {
    const auto segments = store::list_segments(files, directory);
    for (auto ref = segments.rbegin(); ref != segments.rend(); ++ref) {
        const auto segment = store::SegmentReader::open(files, directory + "/" + ref->name);
        const std::size_t count = segment == nullptr ? 0 : segment->index().blocks.size();
        for (std::size_t i = count; i > 0; --i) {
            const store::BlockEntry& block = segment->index().blocks[i - 1];
            if (block.position + block.entries <= synced) {
                return block.position + block.entries;
            }
        }
    }
    return 0;
}

std::optional<std::int64_t> first_utc_ns(store::FileSystem& files, const std::string& directory,
                                         store::Position position) {
    store::LogReader reader(files, directory);
    reader.seek(position);
    store::LogBatch batch;
    while (reader.next(batch)) {
        if (!batch.samples.empty()) {
            return batch.samples.front().time_utc_ns;
        }
    }
    return std::nullopt;
}

void LogExtent::refresh(MonoTime now, store::Position synced, store::FileSystem& files, const std::string& directory) {
    if (now < due_) {
        return;
    }
    const auto segments = store::list_segments(files, directory);
    std::vector<std::pair<store::Position, store::Position>> skipped;
    store::Position after = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const store::Position first = segments[i].first_position;
        if (i == 0) {
            skipped.emplace_back(0, first);
        } else if (first - after >= skip_min) {
            skipped.emplace_back(end_of(files, directory, segments[i - 1]), first);
        }
        after = first;
    }
    // A run that has not written a segment yet is after the skipped positions already.
    const bool is_known = synced < after || synced - after < skip_min;
    if (!is_known && !segments.empty()) {
        skipped.emplace_back(end_of(files, directory, segments.back()), synced);
    }
    skipped_ = std::move(skipped);
    due_ = now + (is_known ? interval : interval_unknown);
}

store::Position LogExtent::entries(store::Position begin, store::Position end) const noexcept {
    if (begin >= end) {
        return 0;
    }
    store::Position count = end - begin;
    for (const auto& [from, to] : skipped_) {
        const store::Position first = std::max(from, begin);
        const store::Position last = std::min(to, end);
        count -= first < last ? last - first : 0;
    }
    return count;
}

store::Position LogExtent::entries(const std::vector<BacklogRange>& ranges) const noexcept {
    store::Position count = 0;
    for (const BacklogRange& range : ranges) {
        count += entries(range.begin, range.end);
    }
    return count;
}

}  // namespace telegate::uplink
