#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"
#include "store/segment_reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate::store {

/// Writes one segment file. It writes the definitions of channels twice, because without them, intact blocks have no
/// names until the footer is written: again after blocks that are as long as the definitions.
///
/// Threads: one.
/// Limits:  none of its own. Memory for the index: see SegmentFooter.
/// Failure: functions throw std::system_error. A failed write changes nothing and may be repeated. After a failed
///          sync(), nothing more may be written to this segment.
class SegmentWriter {
  public:
    /// Creates the file, which must not exist, and writes its header.
    SegmentWriter(FileSystem& files, const std::string& path, const SegmentHead& head);
    /// Continues a segment after its last record, or after damaged bytes that follow it. Overwrites a footer.
    SegmentWriter(FileSystem& files, const SegmentReader& segment);

    [[nodiscard]] const SegmentHead& head() const noexcept { return head_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::int64_t utc_max_ns() const noexcept { return utc_max_ns_; }
    [[nodiscard]] bool is_empty() const noexcept { return index_.blocks.empty(); }
    [[nodiscard]] bool has_stop() const noexcept { return index_.stop.has_value(); }
    [[nodiscard]] bool is_defined(ChannelId channel) const noexcept;

    /// Defines channels that are not defined yet.
    void define(const std::vector<SegmentChannel>& channels);
    /// Writes a block that BlockEncoder::encode() has made.
    void append(const BlockHead& block, Bytes head, Bytes payload, Position position);
    /// Ends the epoch at `position`, after all positions that it has used.
    void stop(const StopRecord& stop, Position position);
    /// Writes the footer. Nothing may follow it.
    void seal();
    void sync() { file_->sync(); }

  private:
    void write();
    [[nodiscard]] bool repeat_definitions(Position position);

    const std::unique_ptr<File> file_;
    const SegmentHead head_;
    SegmentFooter index_;
    std::vector<bool> is_defined_;  // by channel id
    std::uint64_t bytes_ = 0;
    std::size_t once_defined_ = 0;        // index of the first definition that was not repeated
    std::size_t once_defined_bytes_ = 0;  // of their records
    std::size_t blocks_bytes_ = 0;        // of the blocks after the first of these records
    std::int64_t utc_max_ns_ = 0;
    ByteBuffer buffer_;
};

}  // namespace telegate::store
