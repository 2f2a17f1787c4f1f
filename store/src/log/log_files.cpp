#include "log/log_files.hpp"

#include "store/published_mark.hpp"

#include <algorithm>
#include <utility>

namespace telegate::store {

std::unique_ptr<SegmentReader> open_if_there(FileSystem& files, const std::string& directory, const SegmentRef& ref,
                                             ReadErrors read_errors) {
    auto segment = SegmentReader::open(files, directory + "/" + ref.name, read_errors);
    const bool is_named = segment != nullptr && segment->head().first_position == ref.first_position;
    return is_named ? std::move(segment) : nullptr;
}

std::unique_ptr<SegmentReader> open_if_within(FileSystem& files, const std::string& directory, const SegmentRef& ref,
                                              const Times& times) {
    const auto tail = SegmentReader::tail(files, directory + "/" + ref.name);
    const bool is_outside = tail && (tail->utc_max_ns < times.since_ns || tail->utc_min_ns >= times.until_ns);
    return is_outside ? nullptr : open_if_there(files, directory, ref);
}

bool may_follow(FileSystem& files, const std::string& directory, const SegmentHead& head, const LogId& id) {
    if (head.log_id == id) {
        return true;
    }
    const auto mark = PublishedMark::head(files, directory);
    return !mark || mark->log_id != id;
}

std::vector<SegmentRef> list_known_segments(FileSystem& files, const std::string& directory) {
    std::vector<SegmentRef> segments = list_segments(files, directory);
    const auto mark = PublishedMark::head(files, directory);
    const auto last = std::find_if(segments.rbegin(), segments.rend(), [&](const SegmentRef& ref) {
        const auto head = SegmentReader::head(files, directory + "/" + ref.name);
        return head && head->first_position == ref.first_position && (!mark || head->log_id == mark->log_id);
    });
    if (last != segments.rend()) {
        segments.erase(last.base(), segments.end());
    }
    return segments;
}

}  // namespace telegate::store
