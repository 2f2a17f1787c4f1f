#pragma once

#include "store/file_system.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate::store {

/// Returns the highest epoch that the segments and marks of a log have; 0: none. Later runs need a higher one, whatever
/// the clock says. Threads: any. Failure: throws std::bad_alloc. Files that cannot be read are ignored.
[[nodiscard]] std::int64_t newest_epoch_ms(FileSystem& files, const std::string& directory);

/// Finds where in a log to start reading, next to the process that writes it. LogReader::seek() takes the results.
///
/// Threads: one.
/// Limits:  the index of one segment in memory, and 40 bytes for each segment that was read. A search opens a
///          segment for each doubling of their number.
/// Failure: functions throw std::system_error if a file cannot be read, and std::bad_alloc. Damage and segments that
///          are removed meanwhile only make a result earlier than necessary.
class LogIndex {
  public:
    LogIndex(FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

    /// Returns where everything is that was published in an epoch after the first `published` samples, as far as the
    /// log has it; nothing if it has no data from the epoch.
    [[nodiscard]] std::optional<Position> find(std::int64_t epoch_ms, std::uint64_t published);
    /// Returns where all wanted samples of an epoch are, as far as the log has them; nothing if it has no data from the
    /// epoch. `wanted` returns the first wanted number of a channel, or 0 if none is.
    using FirstWanted = std::function<std::uint64_t(const SegmentChannel& channel)>;
    [[nodiscard]] std::optional<Position> find(std::int64_t epoch_ms, const FirstWanted& wanted);
    /// Returns the first epoch after this one that the log has; 0: none.
    [[nodiscard]] std::int64_t epoch_after(std::int64_t epoch_ms);

  private:
    [[nodiscard]] std::vector<SegmentRef> segments_of(std::int64_t epoch_ms);
    [[nodiscard]] std::unique_ptr<SegmentReader> open(const SegmentRef& segment) const;
    template <class IsBefore>
    [[nodiscard]] std::optional<SegmentRef> last_before(std::int64_t epoch_ms, const IsBefore& is_before);
    [[nodiscard]] Position start_of(const SegmentReader& segment) const;

    FileSystem& files_;
    const std::string directory_;
    std::map<Position, std::int64_t> epochs_;  // by the first position of a segment
    Position oldest_ = 0;                      // first position of the oldest segment
};

}  // namespace telegate::store
