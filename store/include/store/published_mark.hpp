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
/// the segments. After the process has been killed, they show which samples it had published but not logged.
///
/// The files are written alternately, because a kill may truncate a write. They are not synced: what a process has
/// written survives its end, and a power failure, which may leave any part of them, loses samples anyway that were
/// written later. Flash memory therefore wears only when the kernel writes them back. Each file has the format of a
/// segment with channels and without blocks.
///
/// Threads: one.
/// Limits: channels_max channels in a file.
/// Failure: write() throws std::system_error and may then be called again.
class PublishedMark {
  public:
    /// At most about this many samples wait for the next write to the log.
    static constexpr std::size_t channels_max = 16'384;

    PublishedMark(FileSystem& files, std::string directory) : file_system_(files), directory_(std::move(directory)) {}

    /// Returns whether the next mark opens its file. It should have all channels, so that on a disk that is full later,
    /// the file already has space for them.
    [[nodiscard]] bool is_new() const noexcept { return files_[next_] == nullptr; }
    void write(const SegmentHead& head, const std::vector<SegmentChannel>& channels);
    /// Closes the files, because the directory has been replaced.
    void close() noexcept { files_ = {}; }

    /// Returns what the files say about an epoch of a log. Files that are missing, damaged or unreadable are ignored.
    /// Threads: any.
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
