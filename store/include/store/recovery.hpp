#pragma once

#include "store/sample_log.hpp"

#include <optional>
#include <string>
#include <vector>

namespace telegate::store {

/// The segments of a log when it is opened.
struct RecoveredLog {
    std::optional<LogId> log_id;  // none: it is new
    std::vector<SegmentDirectory::Segment> segments;
    Position synced = 0;  // everything before it is on the disk
};

/// Scans the directory: writes damaged headers again, renames files that are not segments, seals the last one, without
/// an incomplete record at its end, and finds the next position. Segments that the disk cannot read at present stay as
/// they are, and nothing is removed that may have been intact. No content of the directory makes it fail; repairs that
/// a read-only disk prevents are skipped. Threads: one. Failure: throws std::system_error if the directory cannot be
/// listed, and std::bad_alloc.
[[nodiscard]] RecoveredLog recover_log(FileSystem& files, const std::string& directory,
                                       const SampleLog::KnownSeqs& known, RecoveryReport& report);

}  // namespace telegate::store
