#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <optional>
#include <string>
#include <vector>

namespace telegate::store {

// Both functions look in the other segments and the marks of a log for the parts of a segment that are damaged. Its
// records have the identity of the log, and the position of the first one shows whether the epoch begins there. A
// gateway uses the same number for a channel in all segments of an epoch.
//
// Threads: any. Limits: the index of one segment at a time. Failure: throw std::system_error and std::bad_alloc. Files
// that cannot be used are ignored.

/// Returns the header of the segment `path`, whose own header is damaged; nothing if it cannot be known. `file`: the
/// segment.
[[nodiscard]] std::optional<SegmentHead> rebuilt_head(FileSystem& files, const std::string& path, const File& file);

/// Returns the channels that the marks and the nearest segments of the epoch define, without those whose number has two
/// names.
[[nodiscard]] std::vector<SegmentChannel> names_in_siblings(FileSystem& files, const std::string& path,
                                                            const SegmentHead& head);

}  // namespace telegate::store
