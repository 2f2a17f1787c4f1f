#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"
#include "store/segment_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate::store {

/// The last sequence numbers of channels, by topic.
using LastSeqs = std::map<std::string, std::uint64_t, std::less<>>;

/// The last captured sequence numbers of channels whose samples are not in a segment yet, in two small files next to
/// the segments. After the process has been killed, they show which samples it had captured but not logged.
///
/// The files are written alternately, because a kill may truncate a write. They are not synced: what a process has
/// written survives its end, and a power failure, which may leave any part of them, loses samples anyway that were
/// written later. Flash memory therefore wears only when the kernel writes them back. Each file has the format of a
/// segment with channels and without blocks.
///
/// Threads: one.
/// Limits: bytes_max in a file; further channels are omitted.
/// Failure: commit() throws std::system_error, and the next mark may then be written. All but close() throw
/// std::bad_alloc.
class PublishedMark {
  public:
    /// Sufficient for all channels of a table, unless their names and units are very long. A reader accepts a little
    /// more.
    static constexpr std::size_t bytes_max = 16'000'000;
    /// The information of the marks about an epoch.
    struct Content {
        LastSeqs last_seqs;
        bool has_stopped = false;  // the gateway stopped while the log could not be written
    };

    PublishedMark(FileSystem& files, std::string directory) : file_system_(files), directory_(std::move(directory)) {}

    /// Returns whether the next mark opens its file. It should have all channels, so that on a disk that is full later,
    /// the file already has space for them.
    [[nodiscard]] bool is_new() const noexcept { return files_[next_] == nullptr; }
    /// Begins a mark.
    void begin() noexcept;
    void add(const SegmentChannel& channel);
    /// Writes the mark, unless it has no channels. The time in `head` is 0, or when the gateway stopped.
    void commit(const SegmentHead& head);
    /// Closes the files, because the directory has been replaced.
    void close() noexcept { files_ = {}; }

    /// Returns the header of the last mark, whose first position is that of the epoch, of those whose epoch begins at
    /// `until` or before; nothing if there is none that can be read. Threads: any.
    [[nodiscard]] static std::optional<SegmentHead> head(FileSystem& files, const std::string& directory,
                                                         Position until = position_max);
    /// Returns what the files say about an epoch of a log. Files that are missing, damaged or unreadable are ignored.
    /// Threads: any.
    [[nodiscard]] static Content read(FileSystem& files, const std::string& directory, const LogId& log_id,
                                      std::int64_t epoch_ms);

    /// Calls `use` for each mark that can be read. Threads: any.
    static void for_each(FileSystem& files, const std::string& directory,
                         const std::function<void(const SegmentReader&)>& use);

  private:
    FileSystem& file_system_;
    const std::string directory_;
    std::array<std::unique_ptr<File>, 2> files_;
    std::size_t next_ = 0;
    std::size_t channels_ = 0;  // in definitions_
    ByteBuffer definitions_;
    ByteBuffer buffer_;
};

}  // namespace telegate::store
