#pragma once

#include "uplink/cursor_file.hpp"

#include "core/clock.hpp"
#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {

/// The positions of a log that have entries: a run after a crash continues far behind the last position, and retention
/// removes the oldest ones.
///
/// Threads: one.
/// Limits:  a range for each crash in the log.
/// Failure: refresh() throws std::system_error.
class LogExtent {
  public:
    static constexpr std::chrono::seconds interval{10};
    static constexpr std::chrono::seconds interval_unknown{1};  // after a crash, until the run has a segment

    /// Lists the segments, unless this was done less than an interval ago. Everything before `synced` is synced.
    void refresh(MonoTime now, store::Position synced, store::FileSystem& files, const std::string& directory);
    /// Returns the number of entries from one position to another.
    [[nodiscard]] store::Position entries(store::Position begin, store::Position end) const noexcept;
    [[nodiscard]] store::Position entries(const std::vector<BacklogRange>& ranges) const noexcept;

  private:
    MonoTime due_{};                                                    // when the segments are listed again
    std::vector<std::pair<store::Position, store::Position>> skipped_;  // ranges without entries, in order
};

}  // namespace telegate::uplink
