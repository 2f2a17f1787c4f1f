#pragma once

#include "store/file_system.hpp"
#include "store/removal_gate.hpp"
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
    std::int64_t age_max_ns = 0;              // since a segment ended
    std::uint64_t free_bytes_min = 0;         // of the file system
    WhenFull when_full = WhenFull::drop_oldest;
    Position keep_from = position_max;  // entries from here on are not delivered: age_max does not remove them

    bool operator==(const LogLimits&) const = default;
};

/// A segment as the list of files shows it.
struct SegmentRef {
    Position first_position = 0;
    std::string name;
};

/// Returns the segments of a log, the oldest first. Threads: any. Failure: throws std::system_error.
[[nodiscard]] std::vector<SegmentRef> list_segments(const FileSystem& files, const std::string& directory);

/// A moment, for the age of segments.
struct LogTime {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
    std::int64_t run_began_mono_ns = 0;
    bool is_utc_trusted = false;  // see WallClockTrust
};

/// The segment files of a log and their sizes; removes the oldest ones when a limit is reached.
///
/// The age of a segment of this run counts on the monotonic clock. An earlier one is at least as old as this run; the
/// wall clock can show that it is older, if it was trusted then and is now. No segment is younger than one after it,
/// whatever its samples and its header say.
///
/// Threads: one.
/// Limits:  LogLimits. The newest segment is never removed.
/// Failure: throws std::system_error.
class SegmentDirectory {
  public:
    struct Segment {
        Position first_position = 0;
        std::uint64_t bytes = 0;
        std::optional<std::int64_t> began_utc_ns = {};  // by a wall clock that was trusted; none: unknown
        bool is_of_this_run = false;
        std::optional<std::int64_t> ended_mono_ns = {};  // in this run
        bool is_stop_read = false;
        std::optional<std::int64_t> stopped_utc_ns = {};
    };

    SegmentDirectory(FileSystem& files, std::string directory, const LogLimits& limits);

    [[nodiscard]] std::string path_of(Position first_position) const;
    [[nodiscard]] std::size_t count() const noexcept { return segments_.size(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::optional<Position> oldest() const noexcept;
    [[nodiscard]] std::optional<Position> newest() const noexcept;
    [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
    /// Returns how many were removed because the disk lacked space.
    [[nodiscard]] std::uint64_t removed_for_space() const noexcept { return removed_for_space_; }
    /// Returns why segments were kept recently although the disk lacked space.
    [[nodiscard]] SpaceProblem space_problem(std::int64_t mono_ns) const noexcept { return gate_.problem(mono_ns); }
    [[nodiscard]] const LogLimits& limits() const noexcept { return limits_; }
    void set_limits(const LogLimits& limits) noexcept { limits_ = limits; }

    /// Takes over the segments that the directory has now, which may be another directory than before. Those of this
    /// run, which begin at `run_begin` or later, have ended now at the latest.
    void reload(Position run_begin, std::int64_t mono_ns);
    /// Adds a segment of an earlier run, after all others.
    void add(const Segment& segment);
    /// Adds a segment that begins now.
    void begin(Position first_position, std::uint64_t bytes, const LogTime& now);
    /// Sets the size of the newest segment.
    void update_newest(std::uint64_t bytes) noexcept;
    /// Renames the file of the newest segment and frees its space.
    void rename_newest(const std::string& path);

    /// Removes segments that are older than age_max.
    void remove_old(const LogTime& now);
    /// Removes segments until `more_bytes` can be written within the limits, as far as the limits allow that. Returns
    /// whether they can.
    bool make_capacity(std::uint64_t more_bytes, std::int64_t mono_ns);
    /// Removes the oldest segments, which have at least `bytes` together, because a write has failed for lack of space.
    /// Returns whether it did; not if the newest would be removed or that is of no use, see RemovalGate.
    bool free_space(std::uint64_t bytes, std::int64_t mono_ns);

  private:
    bool remove_oldest();
    [[nodiscard]] bool keep_free(std::uint64_t more_bytes, std::int64_t mono_ns);
    [[nodiscard]] bool is_undelivered() const noexcept;
    [[nodiscard]] RemovalGate::Request request(std::int64_t mono_ns) const noexcept;
    void remove_for_space(RemovalGate::Removal& removal);
    [[nodiscard]] std::optional<std::int64_t> stopped_utc_ns(Segment& segment) const;
    [[nodiscard]] std::int64_t oldest_ended_utc_ns(const LogTime& now);
    [[nodiscard]] bool is_oldest_too_old(const LogTime& now);

    FileSystem& files_;
    const std::string directory_;
    LogLimits limits_;
    std::deque<Segment> segments_;  // the oldest first
    std::uint64_t bytes_ = 0;
    std::uint64_t removed_ = 0;
    std::uint64_t removed_for_space_ = 0;
    RemovalGate gate_;
    std::int64_t dated_utc_ns_ = 0;  // when the last removed segment began, as far as known: later ones began later
};

}  // namespace telegate::store
