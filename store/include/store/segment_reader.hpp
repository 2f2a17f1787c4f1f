#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace telegate::store {

/// A part of a segment file in which no record can be read.
struct DamagedRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool is_torn = false;  // see SegmentReader::is_torn()
};

/// Whether an error says that this one file cannot be read, because of its type or because of the disk under it, rather
/// than that files cannot be read at present. Threads: any.
[[nodiscard]] bool is_unreadable_file(const std::system_error& error) noexcept;

/// The treatment of bytes that the disk fails to read. They may be intact, and readable later.
enum class ReadErrors : std::uint8_t { are_damage, are_thrown };

/// Reads one segment file, which may be in the middle of being written. Its index comes from the footer or, if there is
/// none, from the headers of all records. If the header of the segment or the names of channels are damaged, they come
/// from the other files of the directory, as far as those have them.
///
/// Threads: one.
/// Limits:  memory for the index: about 48 bytes for each block, at most SegmentFooter::blocks_max, and the definitions
///          of the channels.
/// Failure: throws std::system_error for a file that cannot be read, and std::bad_alloc. Damaged bytes, and bytes that
///          the disk fails to read, are never an error: see damaged() and read_block(). With ReadErrors::are_thrown,
///          the latter throw std::system_error.
class SegmentReader {
  public:
    // These return nothing if the file was removed or is not a segment, or if is_unreadable_file().
    [[nodiscard]] static std::unique_ptr<SegmentReader> open(FileSystem& files, const std::string& path,
                                                             ReadErrors read_errors = ReadErrors::are_damage);
    /// Reads the header of a segment alone.
    [[nodiscard]] static std::optional<SegmentHead> head(FileSystem& files, const std::string& path,
                                                         ReadErrors read_errors = ReadErrors::are_damage);
    // The same, without the help of other files.
    [[nodiscard]] static std::unique_ptr<SegmentReader> open_alone(FileSystem& files, const std::string& path);
    [[nodiscard]] static std::optional<SegmentHead> head_alone(FileSystem& files, const std::string& path);
    /// Reads a file as if it began with this header.
    [[nodiscard]] static std::unique_ptr<SegmentReader> open_as(FileSystem& files, const std::string& path,
                                                                const SegmentHead& head);
    /// Reads the end of a segment alone. Also returns nothing if it has no footer.
    [[nodiscard]] static std::optional<FooterTail> tail(FileSystem& files, const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const SegmentHead& head() const noexcept { return head_; }
    /// Returns what is known of the segment so far.
    [[nodiscard]] const SegmentFooter& index() const noexcept { return index_; }
    [[nodiscard]] bool has_footer() const noexcept { return has_footer_; }
    [[nodiscard]] const std::vector<DamagedRange>& damaged() const noexcept { return damaged_; }
    /// Returns the offset after the last record that can be read.
    [[nodiscard]] std::uint64_t end_offset() const noexcept { return end_offset_; }
    /// Returns the offset after the last of these records that is not the footer.
    [[nodiscard]] std::uint64_t records_end() const noexcept { return records_end_; }
    /// Returns where a writer may continue: bytes before it must be kept, because they are damaged, not torn.
    [[nodiscard]] std::uint64_t keep_end() const;
    /// Whether a power failure or a kill has left this part of the file incomplete: a piece of it that a disk writes at
    /// once is missing, and reads as zeros. Otherwise, the part was complete and is damaged.
    [[nodiscard]] bool is_torn(std::uint64_t from, std::uint64_t to) const;
    /// Whether there are parts without records between two records, and a crash has left all of them incomplete.
    [[nodiscard]] bool has_torn_records(std::uint64_t from, std::uint64_t to) const;
    /// Whether the bytes after end_offset() are missing, incomplete or torn.
    [[nodiscard]] bool is_end_torn() const;
    /// Returns the position of the first record, unless it is damaged.
    [[nodiscard]] std::optional<Position> first_record() const;
    /// Whether the disk failed to read a part of the file.
    [[nodiscard]] bool has_read_error() const noexcept { return has_read_error_; }
    [[nodiscard]] const File& file() const noexcept { return *file_; }
    [[nodiscard]] const SegmentChannel* find(std::string_view topic) const;
    /// Whether the name of a channel is known, or of all channels of a block.
    [[nodiscard]] bool is_defined(ChannelId channel) const noexcept;
    [[nodiscard]] bool are_defined(const BlockHead& block) const;
    /// Returns the channels of blocks whose names are damaged and unknown, with their first number in the segment.
    /// Complete unless the segment has a footer.
    using Unnamed = std::map<ChannelId, std::uint64_t>;
    [[nodiscard]] const Unnamed& unnamed() const noexcept { return unnamed_; }

    /// Adds records that were written since the last call. Returns whether there were any.
    bool refresh();

    enum class Part : std::uint8_t { head, all };
    enum class Result : std::uint8_t { intact, damaged_payload, damaged_head };
    /// Reads a block of index(). With Part::head, `payload` is not changed.
    [[nodiscard]] Result read_block(const BlockEntry& entry, Part part, BlockHead& head, ByteBuffer& payload) const;
    /// Returns the header of the block that was read last, as BlockEncoder::encode() has written it. Valid until the
    /// next read.
    [[nodiscard]] Bytes block_head() const noexcept { return std::span(block_head_).subspan(RecordHead::bytes); }
    /// Reads only the bytes of a block of index() that BlockDecoder::decode_channel() needs. The other bytes of
    /// `payload` have no meaning.
    [[nodiscard]] Result read_channel(const BlockEntry& entry, ChannelId channel, BlockHead& head,
                                      ByteBuffer& payload) const;

  private:
    enum class Scope : std::uint8_t { file, directory };  // where to look for what is damaged
    SegmentReader(std::unique_ptr<File> file, std::string path, const SegmentHead& head);
    [[nodiscard]] static std::unique_ptr<SegmentReader> open(FileSystem& files, const std::string& path, Scope scope,
                                                             ReadErrors read_errors);

    std::size_t read_some(std::uint64_t at, std::span<std::byte> to) const;
    [[nodiscard]] bool load_footer();
    [[nodiscard]] bool read_record(std::uint64_t offset, std::uint64_t file_bytes, RecordHead& record,
                                   ByteBuffer& head) const;
    [[nodiscard]] std::uint64_t find_record(std::uint64_t offset, std::uint64_t file_bytes) const;
    [[nodiscard]] bool add_record(std::uint64_t offset, const RecordHead& record, Bytes head);
    [[nodiscard]] bool add_definitions(Bytes bytes);
    void record_defined(ChannelId channel);
    void record_unnamed(const BlockHead& block);
    void find_names();
    [[nodiscard]] bool has_other_length(const RecordHead& record, std::uint64_t bytes) const;
    void add_block(std::uint64_t offset, const RecordHead& record, const BlockHead& block);
    [[nodiscard]] Result read_block_head(const BlockEntry& entry, RecordHead& record, BlockHead& head) const;

    static constexpr std::size_t read_ahead_bytes = 4'096;  // most heads of blocks are shorter

    ReadErrors read_errors_ = ReadErrors::are_damage;
    FileSystem* files_ = nullptr;  // to look for names in; null: Scope::file
    const std::unique_ptr<File> file_;
    const std::string path_;
    const SegmentHead head_;
    SegmentFooter index_;
    std::vector<bool> is_defined_;       // by channel id
    std::uint32_t first_undefined_ = 0;  // all channels with lower ids are defined
    Unnamed unnamed_;
    bool has_footer_ = false;
    std::vector<DamagedRange> damaged_;
    std::uint64_t end_offset_ = SegmentHead::bytes;
    std::uint64_t records_end_ = SegmentHead::bytes;
    mutable ByteBuffer block_head_;  // memory that reading reuses
    mutable bool has_read_error_ = false;
};

}  // namespace telegate::store
