#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace telegate::store {

/// Whether an error says that the disk, or a quota, is full.
[[nodiscard]] bool is_disk_full(const std::system_error& error) noexcept;

/// Why segments are kept although the disk lacks space.
enum class SpaceProblem : std::uint8_t {
    none,
    no_gain,      // removing segments has given no space
    undelivered,  // an uplink has not delivered the oldest one
};

[[nodiscard]] std::string_view to_string(SpaceProblem problem) noexcept;

/// Decides whether segments may be removed because the disk lacks space. A removal is useful if the log can write at
/// least half as many bytes as it has removed. If it cannot, because of a quota, a lack of inodes, a snapshot or
/// another process that takes the space, further removals would only destroy the history. They are then rare, and none
/// but the first one leaves less than half of what the log had before it.
///
/// Threads: one.
/// Limits:  after a useless removal: one per wait_min, which doubles up to wait_max.
/// Failure: none.
class RemovalGate {
  public:
    static constexpr std::chrono::nanoseconds wait_min = std::chrono::minutes(10);
    static constexpr std::chrono::nanoseconds wait_max = std::chrono::hours(1);
    /// How long the disk must lack space before undelivered data is removed. LogBuffer holds about as much. The lack
    /// has ended if there was no refusal for shown_time: a log that lacks space tries to write more often.
    static constexpr std::chrono::nanoseconds undelivered_wait = std::chrono::seconds(30);
    /// How long a refusal is shown.
    static constexpr std::chrono::nanoseconds shown_time = std::chrono::minutes(1);

    struct Request {
        std::int64_t mono_ns = 0;
        std::uint64_t log_bytes = 0;     // with the segment to be removed
        std::uint64_t oldest_bytes = 0;  // of this segment
        bool is_undelivered = false;
        /// As the file system reports it; none: the report is wrong, because a write has failed.
        std::optional<std::uint64_t> free_bytes = {};
    };
    [[nodiscard]] bool allows(const Request& request) noexcept;

    struct Removal {
        std::int64_t mono_ns = 0;
        std::uint64_t bytes = 0;
        std::uint64_t free_bytes_before = 0;
    };
    void record_removed(const Removal& removal) noexcept;
    /// Returns the size that the log keeps if the removals since the last useful one are of no use.
    [[nodiscard]] std::uint64_t floor_bytes() const noexcept { return floor_bytes_; }
    void record_written(std::uint64_t bytes) noexcept { written_ += bytes; }

    /// Returns why requests were refused recently.
    [[nodiscard]] SpaceProblem problem(std::int64_t mono_ns) const noexcept;

  private:
    [[nodiscard]] bool was_useful(const Request& request) const noexcept;
    [[nodiscard]] bool refuse(SpaceProblem problem, std::int64_t mono_ns) noexcept;

    std::optional<Removal> last_;
    std::uint64_t written_ = 0;  // since the last removal
    bool is_counted_ = false;    // as no use
    std::chrono::nanoseconds wait_{0};
    std::uint64_t floor_bytes_ = 0;
    std::optional<std::int64_t> undelivered_since_ns_;
    SpaceProblem problem_ = SpaceProblem::none;
    std::int64_t refused_mono_ns_ = 0;
};

/// Decides whether the wall clock can be used to tell how old data is: it must not have been stepped or unsynchronized
/// for a while. Time during which nobody has watched it, such as before the start, counts as a step.
///
/// Threads: one.
/// Limits:  a step that happens between two calls and is undone before the second one is not noticed, and is harmless.
/// Failure: none.
class WallClockTrust {
  public:
    static constexpr std::chrono::nanoseconds settling_time = std::chrono::minutes(1);

    /// Returns whether the wall clock can be used at `now`. To be called with each moment that is used.
    [[nodiscard]] bool check(const ClockPair& now, bool is_unsynchronized) noexcept;

  private:
    std::optional<ClockPair> last_;
    std::int64_t doubted_mono_ns_ = 0;  // when there was last a reason not to use it
};

}  // namespace telegate::store
