#pragma once

#include "store/block.hpp"

#include "core/bytes.hpp"
#include "core/channel_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate::store {

/// The number of an entry of the log: a sample, a gap or the start of a gateway. Only the gaps that replace samples
/// when a log is closed on a full disk have positions that others had: those of the samples, which may be in a file of
/// which a sync has failed.
using Position = std::uint64_t;
/// No log gets that far; a file that claims to is not a segment.
inline constexpr Position position_max = Position{1} << 62U;
/// No segment uses as many.
inline constexpr Position segment_positions_max = Position{1} << 40U;

/// The end of the year 9999, so that later epochs are possible. No run has a later one.
inline constexpr std::int64_t epoch_ms_max = 253'402'300'799'999;

/// Identifies a log, so that records and segments of another log are recognized. Random.
using LogId = std::array<std::byte, 16>;

/// A segment file begins with this. docs/log-format.md describes all bytes.
struct SegmentHead {
    static constexpr std::size_t bytes = 80;

    LogId log_id{};
    Position first_position = 0;
    std::int64_t epoch_ms = 0;  // when the gateway started, since 1970 UTC
    std::int64_t utc_ns = 0;    // when the segment began
    std::int64_t mono_ns = 0;
    bool begins_epoch = false;    // its first position is the start of the gateway
    bool is_utc_trusted = false;  // the wall clock was known to be right

    bool operator==(const SegmentHead&) const = default;
};

/// A channel of a segment. Its number has a meaning in this segment only.
struct SegmentChannel {
    ChannelId id{};
    std::string device;
    std::string channel;
    std::string unit;
    std::uint64_t last_seq = 0;  // in a block or a gap before this segment, in this epoch; 0: none

    [[nodiscard]] std::string topic() const { return device + "/" + channel; }
    bool operator==(const SegmentChannel&) const = default;
};

enum class RecordType : std::uint16_t { channels = 1, block = 2, stop = 3, footer = 4 };

/// The gateway has stopped cleanly: the epoch ends here.
struct StopRecord {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
};

/// The location and the contents of a block.
struct BlockEntry {
    std::uint64_t offset = 0;  // in the file
    Position position = 0;
    std::uint32_t entries = 0;  // positions: samples and gaps
    std::int64_t utc_min_ns = 0;
    std::int64_t utc_max_ns = 0;
    std::uint32_t samples = 0;
};

/// The index of a whole segment. Written at its end; can be rebuilt from the records.
struct SegmentFooter {
    /// More than fit into a segment of 16 MiB, whose shortest block has 64 bytes.
    static constexpr std::size_t blocks_max = 262'144;

    Position end_position = 0;
    std::optional<StopRecord> stop;
    std::vector<BlockEntry> blocks;
    std::vector<BlockChannel> channels;       // first and last seq, and the number of samples
    std::vector<SegmentChannel> definitions;  // of all channels of the segment

    [[nodiscard]] std::uint64_t samples() const noexcept;
    /// Returns the times of the oldest and the newest sample, or 0 for both if there are none.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> utc_range_ns() const noexcept;
};

/// The header that all records have in common.
struct RecordHead {
    static constexpr std::size_t bytes = 32;
    static constexpr std::uint32_t head_bytes_max = 16'777'216;
    static constexpr std::uint32_t payload_bytes_max = BlockHead::payload_bytes_max;

    std::uint32_t head_bytes = 0;     // of this and of the part that depends on the type
    std::uint32_t payload_bytes = 0;  // after the header
    RecordType type{};
    Position position = 0;  // of the first entry of a block; where the next one would be, for other types

    [[nodiscard]] std::uint64_t record_bytes() const noexcept { return std::uint64_t{head_bytes} + payload_bytes; }
};

/// The definitions of channels, each as encoded by append_definition().
struct EncodedChannels {
    std::size_t count = 0;
    Bytes definitions;
};

/// A block as encoded by BlockEncoder::encode().
struct EncodedBlock {
    Bytes head;
    Bytes payload;
};

inline constexpr std::uint32_t segment_version = 2;

/// Each of these functions appends one piece of a segment. Threads: any. Failure: throws std::bad_alloc.
void append_segment_head(const SegmentHead& head, ByteBuffer& out);
void append_channels(const std::vector<SegmentChannel>& channels, Position position, const LogId& id, ByteBuffer& out);
void append_channels(const EncodedChannels& channels, Position position, const LogId& id, ByteBuffer& out);
void append_definition(const SegmentChannel& channel, ByteBuffer& out);
void append_block(const EncodedBlock& block, Position position, const LogId& id, ByteBuffer& out);
void append_stop(const StopRecord& stop, Position position, const LogId& id, ByteBuffer& out);
void append_footer(const SegmentFooter& footer, Position position, const LogId& id, ByteBuffer& out);

/// Each of these returns nullopt or false if the bytes are invalid. Threads: any. Failure: throws
/// std::bad_alloc.
[[nodiscard]] std::optional<SegmentHead> read_segment_head(Bytes bytes);
/// Reads the common header alone, without its checksum; check_record_head() then checks whether the whole header is
/// intact.
[[nodiscard]] std::optional<RecordHead> read_record_head(Bytes bytes, const LogId& id);
/// `bytes`: all head_bytes of a record.
[[nodiscard]] bool check_record_head(Bytes bytes);
/// `bytes`: the part of the header after the common one.
[[nodiscard]] bool read_channels(Bytes bytes, std::vector<SegmentChannel>& channels);
[[nodiscard]] std::optional<StopRecord> read_stop(Bytes bytes);
/// `file_bytes`: the size of the segment, which limits the number of its blocks, as does SegmentFooter::blocks_max.
[[nodiscard]] bool read_footer(Bytes bytes, std::uint64_t file_bytes, SegmentFooter& footer);
/// The last bytes of a segment with a footer. They show whether the rest is worth reading.
struct FooterTail {
    static constexpr std::size_t bytes = 32;

    std::int64_t utc_min_ns = 0;  // of all samples; both 0 if there are none
    std::int64_t utc_max_ns = 0;
    std::uint32_t footer_bytes = 0;  // the footer record begins this many bytes before the end of the file
};
[[nodiscard]] std::optional<FooterTail> read_footer_tail(Bytes bytes);

/// Returns the name of a segment file: its first position in 20 digits and ".tgl".
[[nodiscard]] std::string segment_name(Position first_position);
/// Returns the first position, or nullopt if the name is not that of a segment.
[[nodiscard]] std::optional<Position> parse_segment_name(std::string_view name);

}  // namespace telegate::store
