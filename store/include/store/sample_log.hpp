#pragma once

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "store/file_system.hpp"
#include "store/published_mark.hpp"
#include "store/removal_gate.hpp"
#include "store/reserve_file.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_format.hpp"
#include "store/segment_reader.hpp"
#include "store/segment_writer.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate::store {

/// The result of opening a log, for the operator.
struct RecoveryReport {
    Position oldest = 0;
    Position next = 0;
    std::uint64_t truncated_bytes = 0;  // of a record that was being written when the last process ended
    std::vector<std::string> renamed;   // files that are not segments, now NAME.damaged
    std::vector<std::string> left;      // segments that cannot be read or renamed at present, and why
    std::vector<std::string> repaired;  // segments whose damaged header was written again
    std::vector<DamagedRange> damaged;  // in the last segment
    std::uint64_t unnamed = 0;          // channels of the last segment whose names are damaged and unknown
    std::string not_sealed;             // why the last segment could not be repaired; "": nothing had to be, or it was
    bool last_epoch_ended = true;       // false: the last process did not stop cleanly
    std::int64_t last_epoch_ms = 0;     // 0: the log is new
    std::uint64_t last_captured = 0;    // samples of the last epoch up to the end of the log, logged or in a gap
    std::int64_t last_sample_ns = 0;    // time of the newest one in the last segment; 0: none
    std::uint64_t crash_samples = 0;    // of these: now in a gap, because they are not in the log
    LastSeqs last_seqs;                 // of the last epoch, if it did not end cleanly
};

struct LogStatus {
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;
    Position oldest = 0;
    Position next = 0;                   // of the next entry
    Position synced = 0;                 // everything before it survives a power failure
    std::uint64_t published = 0;         // published in this epoch, logged or not
    std::uint64_t left_out = 0;          // of these: after the last entry, by skip()
    std::uint64_t samples = 0;           // in files, since the start
    std::uint64_t written_bytes = 0;     // since the start
    std::int64_t day_ns = 0;             // 0:00 UTC of the newest sample that was written; 0: none
    std::uint64_t day_bytes = 0;         // written since then, and since the start
    std::uint64_t dropped_full = 0;      // samples that were not logged because of drop_newest
    std::uint64_t dropped_unnamed = 0;   // samples, and samples in gaps, that are not in a gap yet for this reason
    std::uint64_t segments_removed = 0;  // because of the limits
    std::uint64_t segments_removed_for_space = 0;  // of these: because the disk lacked space
    SpaceProblem space_problem = SpaceProblem::none;
    std::uint64_t directories_lost = 0;  // how often the directory was removed or replaced since the start
    bool is_full = false;
};

/// Appends samples and gaps to a directory of segment files, and keeps it within limits.
///
/// Every sequence number of a channel is in the log, as a sample or in a gap: a jump in the numbers becomes a gap. The
/// owner leaves out all samples and gaps of a channel, or none.
/// A sample is safe after sync() has returned. If the newest segment or the directory was removed or renamed, the log
/// continues in a new segment, with everything that is not known to be on disk.
///
/// Threads: one.
/// Limits:  LogLimits on disk; unsynced_bytes_max of blocks and one block of samples in memory. While has_capacity() is
///          false, nothing may be appended.
/// Failure: the constructor throws std::system_error if the directory cannot be used or is locked by another process;
///          no content of any file keeps it from opening. write(), sync() and close() throw std::system_error; they
///          lose nothing, and are to be called again after a while. All throw std::bad_alloc.
class SampleLog {
  public:
    static constexpr std::uint64_t segment_bytes = 16'777'216;
    /// A log on a small disk, or with a low limit, has smaller segments, so that the removal of one does not remove
    /// most of it: at most this part of the disk or the limit, but at least segment_bytes_min.
    static constexpr std::uint64_t segments_min = 8;
    static constexpr std::uint64_t segment_bytes_min = 65'536;
    /// Blocks that are not known to be on disk are kept in memory, because a failed sync says nothing about which are.
    static constexpr std::size_t unsynced_bytes_max = 2'097'152;

    struct Parts {
        FileSystem& files;
        const ChannelTable& channels;
        const Clock& clock;
        /// Calls a function that syncs, which can take seconds, on any thread, and returns after it or throws what it
        /// throws. Meanwhile, mark() may be called. Empty: the log calls it.
        std::function<void(const std::function<void()>& sync)> sync = {};
    };
    struct Options {
        std::string directory;
        std::int64_t epoch_ms = 0;
        LogId new_log_id{};  // of a log that does not exist yet: random bytes
        LogLimits limits{};
        std::uint64_t segment_bytes = SampleLog::segment_bytes;
    };
    /// Recovers the log and begins a new epoch in it. `known` returns what is known of an epoch that did not end
    /// cleanly; it may be empty.
    using KnownSeqs = std::function<LastSeqs(std::int64_t epoch_ms)>;
    SampleLog(Parts parts, Options options, const KnownSeqs& known = {});
    ~SampleLog();
    SampleLog(const SampleLog&) = delete;
    SampleLog& operator=(const SampleLog&) = delete;

    [[nodiscard]] const RecoveryReport& recovery() const noexcept { return recovery_; }
    /// Moves the last numbers out of the report.
    [[nodiscard]] LastSeqs take_last_seqs() noexcept { return std::move(recovery_.last_seqs); }

    /// Returns whether a batch of samples or gaps may be appended.
    [[nodiscard]] bool has_capacity() const noexcept;
    /// Returns whether the log is at a limit and set to block.
    [[nodiscard]] bool is_blocking() const noexcept;
    void append(std::span<const TelemetrySample> samples);
    void append(const LogGap& gap);
    /// Counts published samples that are not appended but are in gaps.
    void record_published(std::uint64_t samples) noexcept { status_.published += samples; }
    /// Counts published samples that the log leaves out, with their gaps.
    void skip(std::uint64_t samples) {
        status_.published += samples;
        block_.skip(samples);
    }

    /// Whether everything that was appended is in a file, so that only power failures can remove it.
    [[nodiscard]] bool is_written() const noexcept;
    /// Records the last captured numbers of channels whose samples are not in a file yet, so that the next start can
    /// report these samples if the process ends. `captured` returns the last number of a channel. `is_last`: the
    /// gateway stops now, and close() has failed.
    void mark(const std::function<std::uint64_t(ChannelId)>& captured, bool is_last = false);

    /// Writes everything appended to the file, where readers find it. It does not yet survive a power failure. Applies
    /// the limits.
    void write();
    /// Writes everything appended and returns after it is on disk. Adds gaps for dropped samples if the log is no
    /// longer full.
    void sync();
    /// Ends the epoch cleanly. Nothing may be appended afterwards. If the disk is full and segments cannot be removed,
    /// the samples that are not in a file become gaps, if the reserve has space for them.
    void close();

    /// The next write applies them.
    void set_limits(const LogLimits& limits) {
        are_limits_new_ = are_limits_new_ || limits != segments_.limits();
        segments_.set_limits(limits);
    }
    [[nodiscard]] LogStatus status() const noexcept;

  private:
    /// An encoded block that is not known to be on disk. Its header is kept only as bytes: for many channels, it takes
    /// a hundred times as much memory when it is decoded.
    struct Pending {
        ByteBuffer head;
        ByteBuffer payload;
        Position position = 0;
        std::uint32_t samples = 0;

        [[nodiscard]] std::size_t bytes() const noexcept { return head.size() + payload.size(); }
    };
    struct ChannelState {
        std::uint64_t last_seq = 0;     // in a block or a gap
        std::uint64_t pending_seq = 0;  // the same before the first pending block
        std::uint64_t dropped_seq = 0;  // not logged because the log was full; 0: none
    };

    [[nodiscard]] ChannelState& state_of(ChannelId channel);
    void reach(ChannelId channel, ChannelState& state, std::uint64_t first_seq);
    void add_gap(const LogGap& gap);
    void name_dropped();
    void end_block();
    void keep_directory();
    void write_pending();
    void open_segment();
    [[nodiscard]] std::uint64_t segment_bytes_now() const;
    [[nodiscard]] bool find_space();
    [[nodiscard]] bool free_space();
    void prepare_replacement();
    void drop_pending();
    void finish();
    void define_channels(const BlockHead& block);
    [[nodiscard]] const BlockHead& head_of(const Pending& block);
    [[nodiscard]] SegmentChannel definition(ChannelId channel, std::uint64_t last_seq) const;
    void sync_and_wait(const std::function<void()>& sync);
    void sync_segment();
    void end_segment();
    [[nodiscard]] LogTime time_now();
    void apply_limits(std::uint64_t more_bytes);
    [[nodiscard]] bool is_dropping() const noexcept;
    void drop_full(ChannelState& state, std::uint64_t last_seq, std::uint64_t count);

    const Parts parts_;
    const Options options_;
    std::unique_ptr<DirectoryLock> lock_;  // null: its directory is gone, and no other one could be locked
    RecoveryReport recovery_;
    LogId log_id_{};
    SegmentDirectory segments_;
    PublishedMark mark_;
    ReserveFile reserve_;
    WallClockTrust wall_clock_;
    const std::int64_t began_mono_ns_;

    BlockEncoder block_;
    std::vector<ChannelState> channels_;  // by id
    Position next_position_ = 0;          // of the first entry of the next block
    std::uint64_t published_before_ = 0;  // samples published in this epoch before the next block
    std::deque<Pending> pending_;         // in order; the first written_ of them are in the file
    std::size_t written_ = 0;
    std::size_t pending_bytes_ = 0;
    BlockHead head_;                          // of the pending block that was encoded or decoded last
    Position head_position_ = 0;              // of this block; 0: none
    std::unique_ptr<SegmentWriter> segment_;  // null: the next write opens one
    std::uint64_t segment_bytes_max_ = 0;     // of segment_
    bool are_limits_new_ = false;             // segment_bytes_max_ does not regard them yet
    bool is_epoch_begun_ = false;             // the start of the epoch is on disk
    LogStatus status_;
};

/// The segments of a log when it is opened.
struct RecoveredLog {
    std::optional<LogId> log_id;  // none: it is new
    std::vector<SegmentDirectory::Segment> segments;
    Position synced = 0;  // everything before it is on the disk
};

/// Scans the directory: writes damaged headers again, renames files that are not segments, seals the last one, without
/// an incomplete record at its end, and finds the next position. Segments that the disk cannot read at present stay as
/// they are, and nothing is removed that may have been intact. No content of the directory makes it fail; repairs that
/// a read-only disk prevents are skipped. Threads: one. Failure: throws std::system_error if the directory cannot be
/// listed, and std::bad_alloc.
[[nodiscard]] RecoveredLog recover_log(FileSystem& files, const std::string& directory,
                                       const SampleLog::KnownSeqs& known, RecoveryReport& report);

}  // namespace telegate::store
