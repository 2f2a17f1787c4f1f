#pragma once

#include "store/file_system.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace telegate::store {

/// A block as it is in its segment. Valid until the next read.
struct StoredBlock {
    BlockEntry entry;
    const BlockHead* head = nullptr;
    EncodedBlock bytes;
};

/// The content of one block of the log, in order, and the gaps before and within it.
struct LogBatch {
    Position position = 0;      // of the first entry
    Position end_position = 0;  // where the next batch continues
    std::int64_t epoch_ms = 0;
    bool begins_epoch = false;  // a gateway started before the samples
    bool ends_epoch = false;    // the gateway stopped cleanly after the samples
    /// Samples published in the epoch before the first entry and up to the last one, logged or not. None: unknown,
    /// because the batch is not a block that can be read.
    std::optional<std::uint64_t> published_before;
    std::optional<std::uint64_t> published_after;
    bool is_passed_over = false;  // see LogReader::select()
    /// The sequence numbers restart, although the epoch does not change: before epochs rose regardless of the
    /// clock, two runs could have the same one.
    bool restarts_seqs = false;
    /// Samples of the block that are omitted, because the names of their channels are damaged.
    std::uint64_t unnamed = 0;
    std::vector<TelemetrySample> samples;
    /// If samples of the block are omitted: by sample, how many samples of the block precede it.
    std::vector<std::uint32_t> places;
    std::vector<BlockGap> gaps;  // in order; each before a sample
    /// Samples that the log leaves out, by the index of a sample of the block. All others of a block were published in
    /// a row.
    std::vector<BlockSkip> skips;
    const std::vector<SegmentChannel>* definitions = nullptr;  // of the channels; valid until the next read
    const SegmentChannel* selected = nullptr;  // the selected channel, if the segment has it; valid until the next read
    const SegmentReader* segment = nullptr;    // with the entries; valid until the next read
    std::optional<StoredBlock> stored;         // the block that has all of the samples
    bool is_encoded = false;                   // only `stored` has the samples; see LogReader::leave_encoded()

    /// Returns the number of samples, decoded or not.
    [[nodiscard]] std::uint32_t sample_count() const noexcept {
        return is_encoded ? stored->entry.samples : static_cast<std::uint32_t>(samples.size());
    }
    [[nodiscard]] const SegmentChannel* find(ChannelId channel) const noexcept;
    /// Returns the samples published in the epoch before this sample of the batch; 0: unknown.
    [[nodiscard]] std::uint64_t published_before_sample(std::size_t sample) const noexcept;
    void clear() noexcept;
    /// Removes the first samples. published_before must be known.
    void drop_front(std::uint32_t count);
    /// Removes the samples of channels that are true, by number, and records the places of the others. `more_gaps`:
    /// gaps that are to be merged with the samples, in order.
    void omit(const std::vector<bool>& channels, std::vector<BlockGap>& more_gaps);
    /// Removes samples outside of these times, and gaps that are not next to one of the others.
    void keep_times(std::int64_t since_ns, std::int64_t until_ns);
};

/// A channel, and the times of its samples that are wanted.
struct ChannelSelection {
    std::string topic;
    std::int64_t since_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();  // not included
};

/// Returns the position after the last block with a sample before `until_ns`; 0 if there is none. Threads: any.
/// Failure: throws std::system_error and std::bad_alloc.
[[nodiscard]] Position end_before(FileSystem& files, const std::string& directory, std::int64_t until_ns);

/// Reads a log from any position, while another process writes it or afterwards. It reports all missing samples: for
/// each epoch and channel, the samples and gaps together cover every sequence number from the first one read, once and
/// in order.
///
/// Threads: one.
/// Limits:  one block and the index of one segment in memory.
/// Failure: functions throw std::system_error if a file cannot be read, and std::bad_alloc; next() then continues after
///          the last batch. Damaged files and blocks, and segments that are removed while they are read, become gaps.
class LogReader {
  public:
    LogReader(FileSystem& files, std::string directory);

    /// Continues at `position`, or at the oldest one after it that the log has.
    void seek(Position position);
    /// Continues at the first block with a sample of this time or later.
    void seek_time(std::int64_t utc_ns);
    /// Ends after the last block with a sample before this time.
    void stop_before(std::int64_t utc_ns) { end_ = end_before(files_, directory_, utc_ns); }
    /// Whether a block is to be decoded, by its header and the channels of its segment. The samples and gaps of other
    /// blocks are passed over.
    using IsWanted = std::function<bool(const BlockHead& head, const std::vector<SegmentChannel>& definitions)>;
    void select(IsWanted is_wanted) { is_wanted_ = std::move(is_wanted); }
    /// Reads one channel only: its samples within the times, and its gaps next to them. Decodes only what that takes.
    /// Batches may be empty and have no numbers of published samples; they begin and end with blocks. To be called
    /// before seek().
    void select(ChannelSelection selection);
    /// Continues where the last `samples` samples of the selected channel begin, or at its first one if there are
    /// fewer.
    void seek_last(std::uint64_t samples);
    /// Leaves blocks encoded that are intact, have no gaps, and follow on what was reported before. Their checksums are
    /// checked, but not that their content can be decoded.
    void leave_encoded() noexcept { leaves_encoded_ = true; }
    /// Throws std::system_error if the disk fails to read a segment. Otherwise, it counts as damaged.
    void throw_read_errors() noexcept { read_errors_ = ReadErrors::are_thrown; }
    /// Decodes the samples of the last batch if they were left encoded. If that fails, they become gaps.
    void decode(LogBatch& batch);
    /// Reads the next block. Returns false if the log currently has no more.
    [[nodiscard]] bool next(LogBatch& batch);

    [[nodiscard]] Position position() const noexcept { return position_; }

  private:
    enum class Reported : std::uint8_t { nothing, header, stop };  // of the segment
    /// Samples of a channel up to a number, before a sample of the batch.
    struct Missing {
        ChannelId channel{};
        std::uint64_t last_seq = 0;
        GapReason reason{};
        std::uint32_t before_sample = 0;
    };

    [[nodiscard]] bool read_next(LogBatch& batch);
    [[nodiscard]] bool open_segment();
    [[nodiscard]] bool is_successor(const SegmentRef& ref) const;
    void begin_segment(LogBatch& batch);
    void end_segment(LogBatch& batch);
    void read_block(const BlockEntry& entry, LogBatch& batch);
    void read_channel(const BlockEntry& entry, LogBatch& batch);
    [[nodiscard]] const SegmentChannel* selected_channel();
    [[nodiscard]] bool is_selected(ChannelId channel) const noexcept;
    void keep_channel(ChannelId channel, std::span<const TelemetrySample> samples);
    void add_lost_block(const BlockHead& head, GapReason reason, LogBatch& batch);
    /// Returns the block that was read last.
    [[nodiscard]] StoredBlock stored(const BlockEntry& entry) const noexcept {
        return {entry, &head_, {segment_->block_head(), payload_}};
    }
    [[nodiscard]] bool follows_on(const BlockHead& head);
    void add_holes(const BlockHead& head, LogBatch& batch);
    void skip_entries(const BlockHead& head, std::uint64_t entries, LogBatch& batch);
    void catch_up(const Missing& missing, LogBatch& batch);
    void decode_block(std::uint64_t skipped, LogBatch& batch);
    void omit(const std::vector<ChannelId>& lost, LogBatch& batch);
    void record_unreadable(GapReason reason) noexcept {
        unreadable_ = unreadable_ == GapReason::damaged ? GapReason::damaged : reason;
    }
    [[nodiscard]] GapReason reason_before(std::size_t block);
    [[nodiscard]] GapReason reason_of_payload(const BlockEntry& entry);
    [[nodiscard]] bool is_end_of_epoch();
    [[nodiscard]] bool restarts_seqs();
    void learn_progress(std::size_t blocks);
    void learn(const BlockHead& head);
    [[nodiscard]] std::uint64_t& last_seq_of(ChannelId channel);
    [[nodiscard]] GapReason hole_reason() const noexcept { return unreadable_.value_or(GapReason::unknown); }

    FileSystem& files_;
    const std::string directory_;
    ReadErrors read_errors_ = ReadErrors::are_damage;
    Position position_ = 0;
    Position continue_at_ = 0;  // after the last batch
    std::unique_ptr<SegmentReader> segment_;
    std::unique_ptr<SegmentReader> ended_segment_;  // keeps the definitions of the last batch valid
    std::optional<LogId> log_id_;                   // of the segment that was read last
    std::optional<Position> limit_;                 // the first position of the segment after it, which ends this one
    std::size_t next_block_ = 0;
    bool is_oldest_ = false;  // no segment is before it
    Reported reported_ = Reported::nothing;
    /// Why data was skipped since the epoch began: damaged, or only crash. None: no data was.
    std::optional<GapReason> unreadable_;
    std::optional<bool> is_end_of_epoch_;  // of the segment; none: not looked up yet
    bool leaves_encoded_ = false;
    std::optional<std::int64_t> epoch_ms_;
    IsWanted is_wanted_;  // empty: all are
    std::optional<ChannelSelection> selection_;
    Position end_ = std::numeric_limits<Position>::max();  // where next() ends
    std::size_t searched_ = 0;                             // definitions of the segment that were searched for it
    std::optional<std::size_t> selected_;                  // its definition in the segment
    std::vector<std::uint64_t> last_seqs_;                 // by channel id: reported in this epoch, as samples or gaps
    BlockDecoder decoder_;
    BlockHead head_;
    ByteBuffer payload_;
};

}  // namespace telegate::store
