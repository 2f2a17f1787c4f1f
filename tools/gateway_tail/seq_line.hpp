#pragma once

#include "sample.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace telegate::tail {

/// Non-overlapping ranges of seqs, each with a reason.
///
/// Threads: one. Limits: the owner's, which are checked with `total`. Failure: std::bad_alloc.
class SeqRanges {
  public:
    struct Range {
        std::uint64_t last;
        Reason reason;
    };

    /// `total` counts the ranges of all sets together.
    explicit SeqRanges(std::size_t& total) noexcept : total_(&total) {}

    /// Adds a range. Seqs that are already covered keep their reason.
    void add(std::uint64_t first, std::uint64_t last, Reason reason);
    /// Returns the range that contains `seq`, or null.
    [[nodiscard]] const Range* at(std::uint64_t seq) const;
    /// Returns the last seq that is covered contiguously from `seq`, or `seq` - 1 if `seq` is not covered.
    [[nodiscard]] std::uint64_t covered_from(std::uint64_t seq) const;
    /// Returns the first covered seq, starting at `seq`; above seq_max if there is none.
    [[nodiscard]] std::uint64_t next_covered(std::uint64_t seq) const;
    void forget_below(std::uint64_t seq);
    void clear();

  private:
    std::size_t* total_;
    std::map<std::uint64_t, Range> ranges_;  // by first seq
};

class SpliceOutput;

/// Memory that all lines use together.
struct Kept {
    std::size_t samples = 0;
    std::size_t text_bytes = 0;
    std::size_t ranges = 0;
};

/// The samples of one topic in one epoch: tracks the next seq, samples that arrived early, and missing samples.
///
/// Threads: one.
/// Limits: those of the splice, which are counted in `Kept`; the owner calls drop_ahead() when they are exceeded.
/// Failure: std::bad_alloc.
class SeqLine {
  public:
    SeqLine(std::int64_t epoch, Kept& kept) noexcept
        : epoch_(epoch), kept_(&kept), gone_(kept.ranges), reported_(kept.ranges) {}

    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

    /// Starts the output at `first`. Earlier samples are discarded; before this call nothing is output.
    void start(std::uint64_t first);
    /// Starts at the first known seq, or at 1 if none is known.
    void start_at_first_known();
    [[nodiscard]] bool is_started() const noexcept { return next_ != 0; }
    /// Returns the first seq that arrived early or was reported; if there is none, the seq after the last known one.
    [[nodiscard]] std::uint64_t first_known() const;
    /// Last seq of the first snapshot, used by start().
    std::uint64_t baseline = 0;

    /// Handles the common case: the expected sample arrives and nothing is kept. Returns true if so; the sample then
    /// counts as output.
    [[nodiscard]] bool take_next(std::int64_t epoch, std::uint64_t seq) noexcept {
        if (seq != next_ || known_last_ >= seq || epoch != epoch_) {
            return false;
        }
        known_last_ = seq;
        ++next_;
        return true;
    }
    /// Keeps the sample until drain() outputs it. Discards a duplicate.
    void insert(const Sample& sample);
    /// Marks seqs as lost: they cannot be recovered.
    void add_gone(std::uint64_t first, std::uint64_t last, Reason reason) { add(gone_, first, last, reason); }
    /// Marks seqs as missing. They may be recovered; if not, they are lost for this reason.
    void add_reported(std::uint64_t first, std::uint64_t last, Reason reason) { add(reported_, first, last, reason); }
    /// Records that seqs up to `seq` exist.
    void know(std::uint64_t seq) noexcept { known_last_ = seq > known_last_ ? seq : known_last_; }

    /// Marks the epoch as ending because the gateway started another one. Its last seq must then be requested.
    void begin_end() noexcept { is_ending_ = true; }
    void end() noexcept { is_ending_ = is_ended_ = true; }
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_ && !is_ended_; }
    /// Returns whether there is something to request.
    [[nodiscard]] bool is_open() const noexcept { return is_started() && (next_ <= known_last_ || is_ending()); }
    [[nodiscard]] bool is_done() const noexcept { return is_ended_ && is_started() && next_ > known_last_; }

    /// Calls `take` with the first and last seq of each hole until it returns false. Returns whether it took all holes.
    /// The last hole of an ending line is open-ended: its last seq is 0.
    template <class Take>
    [[nodiscard]] bool each_hole(const Take& take) const {
        std::uint64_t seq = next_missing(next_);
        while (seq <= known_last_) {
            const std::uint64_t last = std::min(known_last_, next_known(seq) - 1);
            if (!take(seq, last)) {
                return false;
            }
            seq = next_missing(last + 1);
        }
        return !is_ending() || take(std::max(seq, known_last_ + 1), std::uint64_t{0});
    }
    /// Marks missing seqs in this range as lost, for the reason of an earlier notice if there was one, else for
    /// `reason`.
    void give_up(std::uint64_t first, std::uint64_t last, Reason reason);
    void give_up(Reason reason) { give_up(next_, known_last_, reason); }
    /// Marks missing seqs in this range as lost for `reason`, even if an earlier notice gave another one.
    void lose(std::uint64_t first, std::uint64_t last, Reason reason);

    /// Outputs the samples and losses that are next in order. `head` supplies the topic, its index and its unit.
    void drain(const Sample& head, SpliceOutput& output);
    /// Discards samples that arrived early; they are requested again.
    void drop_ahead();

  private:
    struct Item {
        std::int64_t time_utc_ns;
        Value value;  // without its text
        std::string text;
        Quality quality;
        bool replayed;
    };
    using Run = std::vector<Item>;  // consecutive seqs

    void add(SeqRanges& ranges, std::uint64_t first, std::uint64_t last, Reason reason);
    void give_run(const Sample& head, SpliceOutput& output);
    void lose_range(const Sample& head, SpliceOutput& output);
    void count_out(const Item& item) const noexcept;
    /// Returns the first seq, starting at `seq`, that is neither kept nor gone.
    [[nodiscard]] std::uint64_t next_missing(std::uint64_t seq) const;
    /// Returns the first seq, starting at `seq`, that is kept or gone.
    [[nodiscard]] std::uint64_t next_known(std::uint64_t seq) const;

    std::int64_t epoch_;
    Kept* kept_;
    std::uint64_t next_ = 0;        // 0: not started
    std::uint64_t known_last_ = 0;  // last seq that is known to exist
    std::uint64_t first_dropped_ = seq_max + 1;
    std::map<std::uint64_t, Run> runs_;  // by first seq
    SeqRanges gone_;
    SeqRanges reported_;
    bool is_ending_ = false;
    bool is_ended_ = false;
};

}  // namespace telegate::tail
