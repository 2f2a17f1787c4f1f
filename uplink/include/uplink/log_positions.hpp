#pragma once

#include "core/clock.hpp"
#include "store/file_system.hpp"
#include "store/segment_format.hpp"
#include "uplink/cursor_file.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {

// Positions in the log of a directory. Threads: any. Failure: std::system_error.

/// Returns the log's id; nullopt if it has no segment yet.
[[nodiscard]] std::optional<store::LogId> log_id_of(store::FileSystem& files, const std::string& directory);
/// Returns the beginning of the block with a position, or the position if no block has it.
[[nodiscard]] store::Position block_begin(store::FileSystem& files, const std::string& directory,
                                          store::Position position);
/// Returns the end of the last block that ends at `synced` or before it. 0: there is none.
[[nodiscard]] store::Position last_block_end(store::FileSystem& files, const std::string& directory,
                                             store::Position synced);
/// Returns the time of the first sample at a position or after it.
[[nodiscard]] std::optional<std::int64_t> first_utc_ns(store::FileSystem& files, const std::string& directory,
                                                       store::Position position);

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
