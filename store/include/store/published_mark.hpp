#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace telegate::store {

/// The last sequence numbers of channels, by topic.
using LastSeqs = std::map<std::string, std::uint64_t, std::less<>>;

/// The last published sequence numbers of channels whose samples are not in a segment yet, in two small files next to
/// the segments. After the process was killed, they show which samples it had published and not logged.
///
/// The files are written in turn, because a kill may truncate a write. They are not synced: what a process has written
/// survives its end, and a power failure, after which any part of them may be left, loses samples that were written
/// later anyway. So they wear flash memory only as often as the kernel writes them back. Each file is like a segment
/// with channels and no blocks.
///
/// Threads: one.
/// Limits:  channels_max channels in a file.
/// Failure: write() throws std::system_error and may then be called again.
class PublishedMark {
  public:
    /// About as many samples wait for the next write of the log at most.
    static constexpr std::size_t channels_max = 16'384;

    PublishedMark(FileSystem& files, std::string directory) : file_system_(files), directory_(std::move(directory)) {}

    void write(const SegmentHead& head, const std::vector<SegmentChannel>& channels);
    /// Closes the files, because the directory has been replaced.
    void close() noexcept { files_ = {}; }

    /// Returns what the files say about an epoch of a log. No content of them is an error, nor are files that are
    /// missing or cannot be read. Threads: any.
    [[nodiscard]] static LastSeqs read(FileSystem& files, const std::string& directory, const LogId& log_id,
                                       std::int64_t epoch_ms);

  private:
    FileSystem& file_system_;
    const std::string directory_;
    std::array<std::unique_ptr<File>, 2> files_;
    std::size_t next_ = 0;
    ByteBuffer buffer_;
};

}  // namespace telegate::store
