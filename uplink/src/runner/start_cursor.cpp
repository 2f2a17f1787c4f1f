#include "uplink/start_cursor.hpp"

#include "uplink/log_positions.hpp"

#include "store/log_reader.hpp"

#include <algorithm>

namespace telegate::uplink {

StartCursor start_cursor(const CursorLog& log, const Cursor& saved) {
    if (saved.log_id == store::LogId{}) {
        return {};
    }
    if (saved.log_id != log.id) {
        return {{}, "cursor belongs to another log"};
    }
    if (saved.position > log.synced) {
        return {{}, "cursor is after the end of the log"};
    }
    StartCursor start{saved, {}};
    start.cursor.position = block_begin(log.files, log.directory, saved.position);
    store::Position after = 0;  // the ranges stay in order, and before the position
    for (BacklogRange& range : start.cursor.backlog) {
        range.begin = std::max(block_begin(log.files, log.directory, range.begin), after);
        range.end = std::min(range.end, start.cursor.position);
        after = std::max(range.end, after);
    }
    std::erase_if(start.cursor.backlog, [](const BacklogRange& range) { return range.begin >= range.end; });
    return start;
}

store::Position find_target(store::FileSystem& files, const std::string& directory, const RewindTarget& target,
                            store::Position settled) {
    if (const auto* const time = std::get_if<std::chrono::nanoseconds>(&target)) {
        store::LogReader reader(files, directory);
        reader.seek_time(time->count());
        return std::min(reader.position(), settled);
    }
    return block_begin(files, directory, std::get<store::Position>(target));
}

bool add_range(std::vector<BacklogRange>& ranges, BacklogRange range) {
    if (ranges.size() > 1 && ranges.back().end == range.begin) {
        ranges.back().end = range.end;
        return false;
    }
    ranges.push_back(range);
    return ranges.size() == 1;
}

}  // namespace telegate::uplink
