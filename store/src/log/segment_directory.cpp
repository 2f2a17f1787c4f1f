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

void SegmentDirectory::reload(Position run_begin, std::int64_t mono_ns) {
    std::deque<Segment> segments;
    std::uint64_t bytes = 0;
    for (const SegmentRef& ref : list_segments(files_, directory_)) {
        Segment segment;
        segment.first_position = ref.first_position;
        segment.bytes = files_.open(directory_ + "/" + ref.name, FileSystem::Mode::read)->bytes();
        if (segment.first_position >= run_begin) {
            segment.is_of_this_run = true;
            segment.ended_mono_ns = mono_ns;
        }
        bytes += segment.bytes;
        segments.push_back(segment);
    }
    segments_ = std::move(segments);
    bytes_ = bytes;
}

void SegmentDirectory::add(const Segment& segment) {
    segments_.push_back(segment);
    bytes_ += segment.bytes;
}

void SegmentDirectory::begin(Position first_position, std::uint64_t bytes, const LogTime& now) {
    if (!segments_.empty() && segments_.back().is_of_this_run) {
        segments_.back().ended_mono_ns = now.mono_ns;
    }
    Segment segment;
    segment.first_position = first_position;
    segment.bytes = bytes;
    segment.is_of_this_run = true;
    add(segment);
}

void SegmentDirectory::update_newest(std::uint64_t bytes) noexcept {
    Segment& newest = segments_.back();
    bytes_ += bytes - newest.bytes;
    gate_.record_written(bytes - newest.bytes);
    newest.bytes = bytes;
}

void SegmentDirectory::rename_newest(const std::string& path) {
    const std::string newest = path_of(segments_.back().first_position);
    if (files_.exists(newest)) {  // perhaps somebody has removed it
        files_.rename(newest, path);
    }
    bytes_ -= segments_.back().bytes;
    segments_.pop_back();  // from here on, a failure must not make the next attempt rename it again
    try {
        files_.open(path, FileSystem::Mode::write)->truncate(0);
    } catch (const std::system_error&) {
        return;  // it takes space until its replacement is on the disk; then it is removed
    }
}

bool SegmentDirectory::remove_oldest() {
    if (segments_.size() < 2) {
        return false;
    }
    const Segment& oldest = segments_.front();
    files_.remove(path_of(oldest.first_position));
    files_.sync_directory(directory_);  // first, so that a power failure never leaves a hole in the middle
    bytes_ -= oldest.bytes;
    segments_.pop_front();
    ++removed_;
    return true;
}

/// Returns when a segment that began at a known time ended, if the gateway stopped in it.
std::optional<std::int64_t> SegmentDirectory::stopped_utc_ns(Segment& segment) const {
    if (!segment.is_stop_read) {
        segment.is_stop_read = true;
        const auto reader = SegmentReader::open(files_, path_of(segment.first_position));
        const auto stop = reader == nullptr ? std::nullopt : reader->index().stop;
        segment.stopped_utc_ns =
            stop ? std::optional(*segment.began_utc_ns + (stop->mono_ns - reader->head().mono_ns)) : std::nullopt;
    }
    return segment.stopped_utc_ns;
}

/// Returns the latest time at which the oldest segment, which is not of this run, can have ended. Its own times count
/// only between those of its neighbors, and those of its samples do not: senders may have set them.
std::int64_t SegmentDirectory::oldest_ended_utc_ns(const LogTime& now) {
    Segment& oldest = segments_.front();
    std::int64_t latest = now.utc_ns - (now.mono_ns - now.run_began_mono_ns);
    const auto began = [&](const Segment& segment, std::int64_t earliest) {
        const auto utc_ns = segment.began_utc_ns;
        return utc_ns && *utc_ns >= earliest && *utc_ns <= latest ? utc_ns : std::nullopt;
    };
    const std::optional<std::int64_t> own = began(oldest, dated_utc_ns_);
    const std::int64_t earliest = own.value_or(dated_utc_ns_);
    for (std::size_t i = 1; i < segments_.size() && !segments_[i].is_of_this_run; ++i) {
        if (const auto next = began(segments_[i], earliest)) {
            latest = *next;
            break;
        }
    }
    return own ? std::clamp(stopped_utc_ns(oldest).value_or(latest), *own, latest) : latest;
}

bool SegmentDirectory::is_oldest_too_old(const LogTime& now) {
    const Segment& oldest = segments_.front();
    if (oldest.is_of_this_run) {
        return oldest.ended_mono_ns && now.mono_ns - *oldest.ended_mono_ns > limits_.age_max_ns;
    }
    if (now.mono_ns - now.run_began_mono_ns > limits_.age_max_ns) {
        return true;
    }
    if (!now.is_utc_trusted || oldest_ended_utc_ns(now) >= now.utc_ns - limits_.age_max_ns) {
        return false;
    }
    if (oldest.began_utc_ns && *oldest.began_utc_ns <= now.utc_ns) {
        dated_utc_ns_ = std::max(dated_utc_ns_, *oldest.began_utc_ns);
    }
    return true;
}

void SegmentDirectory::remove_old(const LogTime& now) {
    while (limits_.age_max_ns > 0 && segments_.size() > 1 && !is_undelivered() && is_oldest_too_old(now)) {
        remove_oldest();
    }
}

/// Whether the oldest segment has entries that an uplink has not delivered.
bool SegmentDirectory::is_undelivered() const noexcept {
    return segments_.size() > 1 && segments_[1].first_position > limits_.keep_from;
}

RemovalGate::Request SegmentDirectory::request(std::int64_t mono_ns) const noexcept {
    RemovalGate::Request request;
    request.mono_ns = mono_ns;
    request.log_bytes = bytes_;
    request.oldest_bytes = segments_.front().bytes;
    request.is_undelivered = is_undelivered();
    return request;
}

bool SegmentDirectory::make_capacity(std::uint64_t more_bytes, std::int64_t mono_ns) {
    while (limits_.bytes_max > 0 && bytes_ + more_bytes > limits_.bytes_max) {
        if (limits_.when_full != WhenFull::drop_oldest || !remove_oldest()) {
            return false;
        }
    }
    return limits_.free_bytes_min == 0 || keep_free(more_bytes, mono_ns);
}

/// Keeps free_bytes_min. While removing segments gives no space, the log uses this space: its own part of the lack is
/// removed again later.
bool SegmentDirectory::keep_free(std::uint64_t more_bytes, std::int64_t mono_ns) {
    const std::uint64_t wanted = limits_.free_bytes_min + more_bytes;
    RemovalGate::Removal removal{mono_ns, 0, files_.free_bytes(directory_)};
    for (std::uint64_t free = removal.free_bytes_before; free < wanted; free = files_.free_bytes(directory_)) {
        const std::uint64_t removable = segments_.empty() ? 0 : bytes_ - segments_.back().bytes;
        if (limits_.when_full != WhenFull::drop_oldest || wanted - free > removable) {
            return false;  // even without all of its segments
        }
        RemovalGate::Request wish = request(mono_ns);
        wish.free_bytes = free;
        if (!gate_.allows(wish)) {
            return true;
        }
        remove_for_space(removal);
        gate_.record_removed(removal);
    }
    return true;
}

bool SegmentDirectory::free_space(std::uint64_t bytes, std::int64_t mono_ns) {
    if (segments_.size() < 2 || !gate_.allows(request(mono_ns))) {
        return false;
    }
    const bool are_undelivered = is_undelivered();
    RemovalGate::Removal removal{mono_ns, 0, files_.free_bytes(directory_)};
    bool is_at_floor = false;
    while (segments_.size() > 1 && removal.bytes < bytes && is_undelivered() == are_undelivered && !is_at_floor) {
        remove_for_space(removal);
        is_at_floor = segments_.size() > 1 && bytes_ < gate_.floor_bytes() + segments_.front().bytes;
    }
    if (is_at_floor || removal.bytes >= bytes) {  // otherwise the next write may need more segments
        gate_.record_removed(removal);
    }
    return true;
}

void SegmentDirectory::remove_for_space(RemovalGate::Removal& removal) {
    removal.bytes += segments_.front().bytes;
    if (remove_oldest()) {
        ++removed_for_space_;
    }
}

}  // namespace telegate::store
