#include "store/segment_directory.hpp"

#include "store/segment_reader.hpp"

#include <algorithm>
#include <utility>

namespace telegate::store {

std::vector<SegmentRef> list_segments(const FileSystem& files, const std::string& directory) {
    std::vector<SegmentRef> segments;
    for (std::string& name : files.list(directory)) {
        if (const auto position = parse_segment_name(name)) {
            segments.push_back({*position, std::move(name)});
        }
    }
    std::sort(segments.begin(), segments.end(),
              [](const SegmentRef& a, const SegmentRef& b) { return a.first_position < b.first_position; });
    return segments;
}

SegmentDirectory::SegmentDirectory(FileSystem& files, std::string directory, const LogLimits& limits)
    : files_(files), directory_(std::move(directory)), limits_(limits) {}

std::string SegmentDirectory::path_of(Position first_position) const {
    return directory_ + "/" + segment_name(first_position);
}

std::optional<Position> SegmentDirectory::oldest() const noexcept {
    return segments_.empty() ? std::nullopt : std::optional(segments_.front().first_position);
}

std::optional<Position> SegmentDirectory::newest() const noexcept {
    return segments_.empty() ? std::nullopt : std::optional(segments_.back().first_position);
}

void SegmentDirectory::add(const Segment& segment) {
    segments_.push_back(segment);
    bytes_ += segment.bytes;
}

void SegmentDirectory::update_newest(std::uint64_t bytes, std::int64_t utc_max_ns) noexcept {
    Segment& newest = segments_.back();
    bytes_ += bytes - newest.bytes;
    newest.bytes = bytes;
    newest.utc_max_ns = utc_max_ns;
}

bool SegmentDirectory::is_in_place() const {
    return segments_.empty() || files_.exists(path_of(segments_.back().first_position));
}

void SegmentDirectory::forget_missing() {
    std::erase_if(segments_, [&](const Segment& segment) {
        const bool is_missing = !files_.exists(path_of(segment.first_position));
        bytes_ -= is_missing ? segment.bytes : 0;
        return is_missing;
    });
}

void SegmentDirectory::remove_newest() {
    files_.remove(path_of(segments_.back().first_position));
    bytes_ -= segments_.back().bytes;
    segments_.pop_back();
}

bool SegmentDirectory::remove_oldest() {
    if (segments_.size() < 2) {
        return false;
    }
    files_.remove(path_of(segments_.front().first_position));
    files_.sync_directory(directory_);  // first, so that a power failure never leaves a hole in the middle
    bytes_ -= segments_.front().bytes;
    segments_.pop_front();
    ++removed_;
    return true;
}

bool SegmentDirectory::is_too_old(Segment& segment, std::int64_t utc_now_ns) const {
    if (!segment.utc_max_ns) {
        const auto tail = SegmentReader::tail(files_, path_of(segment.first_position));
        const auto reader = tail ? nullptr : SegmentReader::open(files_, path_of(segment.first_position));
        segment.utc_max_ns = tail ? tail->utc_max_ns : reader == nullptr ? 0 : reader->index().utc_range_ns().second;
    }
    return *segment.utc_max_ns < utc_now_ns - limits_.age_max_ns;  // cannot overflow, whatever the segment says
}

bool SegmentDirectory::make_capacity(std::uint64_t more_bytes, std::int64_t utc_now_ns) {
    while (limits_.age_max_ns > 0 && segments_.size() > 1 && is_too_old(segments_.front(), utc_now_ns)) {
        remove_oldest();
    }
    const auto is_over = [&] {
        return (limits_.bytes_max > 0 && bytes_ + more_bytes > limits_.bytes_max) ||
               (limits_.free_bytes_min > 0 && files_.free_bytes(directory_) < limits_.free_bytes_min + more_bytes);
    };
    while (is_over()) {
        if (limits_.when_full != WhenFull::drop_oldest || !remove_oldest()) {
            return false;
        }
    }
    return true;
}

}  // namespace telegate::store
