#pragma once

#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace telegate::store {

// Which files of a directory are segments of its log, for readers. Threads: any. Failure: throw std::system_error and
// std::bad_alloc.

/// Returns null if the file was removed, or is not the segment that its name says.
[[nodiscard]] std::unique_ptr<SegmentReader> open_if_there(FileSystem& files, const std::string& directory,
                                                           const SegmentRef& ref,
                                                           ReadErrors read_errors = ReadErrors::are_damage);

struct Times {
    std::int64_t since_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();  // not included
};

/// Like open_if_there(), but also returns null if the end of the segment says that it has no samples with these times.
[[nodiscard]] std::unique_ptr<SegmentReader> open_if_within(FileSystem& files, const std::string& directory,
                                                            const SegmentRef& ref, const Times& times);

/// Whether a segment may follow one of the log `id`. One of another log may if the marks do not say that the log in the
/// directory is still `id`: a start continues the log of the last segment, whatever is before it.
[[nodiscard]] bool may_follow(FileSystem& files, const std::string& directory, const SegmentHead& head,
                              const LogId& id);

/// Returns the segments of the log up to the last one that can be read and is of the log that the marks name.
[[nodiscard]] std::vector<SegmentRef> list_known_segments(FileSystem& files, const std::string& directory);

}  // namespace telegate::store
