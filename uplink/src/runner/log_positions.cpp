#include "uplink/log_positions.hpp"

#include "store/log_reader.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>

namespace telegate::uplink {

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

}  // namespace telegate::uplink
