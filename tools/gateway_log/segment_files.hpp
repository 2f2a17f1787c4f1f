#pragma once

#include "store/file_system.hpp"
#include "store/segment_reader.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::log_tool {

enum class SegmentState : std::uint8_t {
    sealed,    // has a footer
    open,      // the last one, without a footer: being written, or left by a crash
    unsealed,  // has no footer, although it is not the last one
    damaged,   // a part of it cannot be read
};
[[nodiscard]] std::string_view to_string(SegmentState state) noexcept;

/// A segment file, or one that was renamed to NAME.damaged.
struct SegmentFile {
    std::string name;
    std::uint64_t bytes = 0;
    SegmentState state = SegmentState::damaged;
    bool ends_epoch =
        false;  // it is the last segment of an epoch that did not stop cleanly, so its end may be incomplete
    std::unique_ptr<store::SegmentReader> reader;  // null: it does not begin like a segment with its name
};

/// Calls `each` for the segment files of a directory, the oldest first, then for those renamed to NAME.damaged. Files
/// that are removed in the meantime are omitted.
/// Threads: one. Limits: the index of one segment in memory. Failure: throws std::system_error and std::bad_alloc.
void for_segment_files(store::FileSystem& files, const std::string& directory,
                       const std::function<void(SegmentFile&)>& each);

/// Reads a segment that has a reader, and returns the parts of the file that cannot be read. `is_torn` of a part says
/// that it is incomplete because of a crash, or because it is being written. Threads: one. Limits: one block in memory.
/// Failure: throws std::system_error and std::bad_alloc.
[[nodiscard]] std::vector<store::DamagedRange> find_damage(const SegmentFile& segment);

}  // namespace telegate::log_tool
