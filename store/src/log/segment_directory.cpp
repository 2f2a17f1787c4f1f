#include "store/segment_directory.hpp"

#include "store/segment_reader.hpp"

#include <algorithm>
#include <utility>

namespace telegate::store {

std::optional<Position> parse_damaged_name(std::string_view name) {
    return name.ends_with(damaged_suffix) ? parse_segment_name(name.substr(0, name.size() - damaged_suffix.size()))
                                          : std::nullopt;
}

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

void SegmentDirectory::reload() {
    std::deque<Segment> segments;
    std::uint64_t bytes = 0;
    for (const SegmentRef& ref : list_segments(files_, directory_)) {
        segments.push_back({ref.first_position,
                            files_.open(directory_ + "/" + ref.name, FileSystem::Mode::read)->bytes(), std::nullopt});
        bytes += segments.back().bytes;
    }
    segments_ = std::move(segments);
    bytes_ = bytes;
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

void SegmentDirectory::rename_newest(const std::string& path) {
    files_.rename(path_of(segments_.back().first_position), path);
    files_.open(path, FileSystem::Mode::write)->truncate(0);
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

/// Returns the time of the newest sample of a segment. One that cannot be read is as old as if it had ended now, and
/// one that was removed as old as can be.
std::int64_t SegmentDirectory::newest_sample(const std::string& path, std::int64_t utc_now_ns) const {
    if (const auto tail = SegmentReader::tail(files_, path)) {
        return tail->utc_max_ns;
    }
    if (const auto reader = SegmentReader::open(files_, path); reader != nullptr && !reader->has_read_error()) {
        return reader->index().utc_range_ns().second;
    }
    return files_.exists(path) ? utc_now_ns : 0;
}

bool SegmentDirectory::is_too_old(Segment& segment, std::int64_t utc_now_ns) const {
    if (!segment.utc_max_ns) {
        segment.utc_max_ns = newest_sample(path_of(segment.first_position), utc_now_ns);
    }
    return *segment.utc_max_ns <
           utc_now_ns - limits_.age_max_ns;  // cannot overflow, regardless of the segment's contents
}

bool SegmentDirectory::make_capacity(std::uint64_t more_bytes, std::int64_t utc_now_ns) {
    while (limits_.age_max_ns > 0 && segments_.size() > 1 && segments_[1].first_position <= limits_.keep_from &&
           is_too_old(segments_.front(), utc_now_ns)) {
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
