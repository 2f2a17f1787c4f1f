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
};

/// Scans the directory: renames segments that cannot be read, truncates and seals the last one, and finds the
/// next position. No content of the directory makes it fail; repairs that a read-only disk prevents are skipped.
/// Threads: one. Failure: throws std::system_error if the directory cannot be listed, and std::bad_alloc.
[[nodiscard]] RecoveredLog recover_log(FileSystem& files, const std::string& directory,
                                       const SampleLog::KnownSeqs& known, RecoveryReport& report);

}  // namespace telegate::store
