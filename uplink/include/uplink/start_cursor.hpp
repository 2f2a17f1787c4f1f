#pragma once

#include "uplink/cursor_file.hpp"

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace telegate::uplink {

/// Where an uplink delivers again from: a position, or the first block with a sample of a time or later.
using RewindTarget = std::variant<store::Position, std::chrono::nanoseconds>;

// Where a delivery begins in the log. Threads: one. Failure: those with files throw std::system_error.

/// The log in which a cursor is used.
struct CursorLog {
    store::FileSystem& files;
    const std::string& directory;
    const store::LogId& id;
    store::Position synced = 0;
};

struct StartCursor {
    Cursor cursor = {};
    std::string problem = {};  // why the saved one is not used; "": it is, or there is none
};

/// Returns the cursor that the last process has saved, moved to the beginnings of blocks: those of a log that was
/// restored may be others. If the cursor cannot belong to the log, returns one that begins at the oldest sample.
[[nodiscard]] StartCursor start_cursor(const CursorLog& log, const Cursor& saved);

/// Returns the position of the beginning of a block. A time gives at most `settled`.
[[nodiscard]] store::Position find_target(store::FileSystem& files, const std::string& directory,
                                          const RewindTarget& target, store::Position settled);

/// Adds a range after the others, and joins it with the last one if that is not the first, which is being read. Returns
/// whether it is the first one.
bool add_range(std::vector<BacklogRange>& ranges, BacklogRange range);

}  // namespace telegate::uplink
