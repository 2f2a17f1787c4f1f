#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::store {

/// Added to the name of a segment file that cannot be used.
inline constexpr std::string_view damaged_suffix = ".damaged";
/// Returns the first position of a segment that was renamed so, or nullopt if this is not the name of one.
[[nodiscard]] std::optional<Position> parse_damaged_name(std::string_view name);

/// The policy of a log that has reached a limit.
enum class WhenFull : std::uint8_t {
    drop_oldest,  // the oldest segments are removed
    drop_newest,  // new samples are not logged
    block,        // the caller must wait, see SampleLog::is_blocking()
};

/// Limits of a log; 0 means no limit.
struct LogLimits {
    std::uint64_t bytes_max = 1'073'741'824;  // all segments together
    std::int64_t age_max_ns = 0;              // of the newest sample of a segment
    std::uint64_t free_bytes_min = 0;         // of the file system
    WhenFull when_full = WhenFull::drop_oldest;
    Position keep_from = position_max;  // age_max does not remove segments with entries from here on

    bool operator==(const LogLimits&) const = default;
};

/// A segment as the list of files shows it.
struct SegmentRef {
    Position first_position = 0;
    std::string name;
};

/// Returns the segments of a log, the oldest first. Threads: any. Failure: throws std::system_error.
[[nodiscard]] std::vector<SegmentRef> list_segments(const FileSystem& files, const std::string& directory);

/// The segment files of a log and their sizes; removes the oldest ones when a limit is reached.
///
/// Threads: one.
/// Limits:  LogLimits. The newest segment is never removed.
/// Failure: throws std::system_error.
class SegmentDirectory {
  public:
    struct Segment {
        Position first_position = 0;
        std::uint64_t bytes = 0;
        std::optional<std::int64_t> utc_max_ns;  // of its newest sample; none: not known yet
    };

    SegmentDirectory(FileSystem& files, std::string directory, const LogLimits& limits);

    [[nodiscard]] std::string path_of(Position first_position) const;
    [[nodiscard]] std::size_t count() const noexcept { return segments_.size(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::optional<Position> oldest() const noexcept;
    [[nodiscard]] std::optional<Position> newest() const noexcept;
    [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
    [[nodiscard]] const LogLimits& limits() const noexcept { return limits_; }
    void set_limits(const LogLimits& limits) noexcept { limits_ = limits; }

    /// Takes over the segments that the directory has now, which may be another directory than before.
    void reload();
    /// Adds the newest segment.
    void add(const Segment& segment);
    /// Sets the size and the time of the newest segment.
    void update_newest(std::uint64_t bytes, std::int64_t utc_max_ns) noexcept;
    /// Renames the file of the newest segment and frees its space.
    void rename_newest(const std::string& path);
    /// Removes the oldest segment, if it is not the newest. Returns whether it did.
    bool remove_oldest();

    /// Removes segments until `more_bytes` can be written within the limits, as far as the limits allow that. Returns
    /// whether they can.
    bool make_capacity(std::uint64_t more_bytes, std::int64_t utc_now_ns);

  private:
    [[nodiscard]] std::int64_t newest_sample(const std::string& path, std::int64_t utc_now_ns) const;
    [[nodiscard]] bool is_too_old(Segment& segment, std::int64_t utc_now_ns) const;

    FileSystem& files_;
    const std::string directory_;
    LogLimits limits_;
    std::deque<Segment> segments_;  // the oldest first
    std::uint64_t bytes_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace telegate::store
