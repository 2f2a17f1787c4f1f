#pragma once

#include "sample.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace telegate::tail {

class MergerOutput;

/// The seqs of one topic in one epoch, from the next one to output to the last one that is known to exist. Ranges of
/// them are missing, lost, or have arrived early.
///
/// Threads: one.
/// Limits: those of the merger, which are counted in `Kept`; the owner calls drop_ahead() when they are exceeded.
/// Failure: std::bad_alloc.
class SeqLine {
  public:
    /// The state of a range. It only changes to a later one, except in drop_ahead().
    enum class State : std::uint8_t {
        missing,
        discarded,  // arrived, but discarded for lack of memory: missing again
        reported,   // missing, and lost for the reason of a notice unless it can be recovered
        gone,       // lost
        kept,       // waits for earlier samples
    };
    /// Memory that all lines use together.
    struct Kept {
        std::size_t samples = 0;
        std::size_t text_bytes = 0;
        std::size_t ranges = 0;
    };

    SeqLine(std::int64_t epoch, Kept& kept) noexcept : epoch_(epoch), kept_(&kept) {}

    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

    /// Starts the output at `first`. Earlier samples are discarded; before this call nothing is output.
    void start(std::uint64_t first);
    [[nodiscard]] bool is_started() const noexcept { return next_ != 0; }
    /// Returns the first seq that is not just missing; if there is none, the seq after the last known one.
    [[nodiscard]] std::uint64_t first_known() const;
    /// Last seq of the first snapshot, after which the output starts if --since returns nothing.
    std::uint64_t baseline = 0;

    /// Handles the common case: the expected sample arrives and nothing is kept. Returns true if so; the sample then
    /// counts as output.
    [[nodiscard]] bool take_next(std::int64_t epoch, std::uint64_t seq) noexcept {
        if (seq != next_ || end_ > seq || epoch != epoch_) {
            return false;
        }
        end_ = ++next_;
        return true;
    }
    /// Keeps the sample until drain() outputs it. Discards a duplicate.
    void insert(const Sample& sample);
    /// Records that seqs up to `seq` exist.
    void know(std::uint64_t seq);
    /// Sets the state of a range, except where it is in a later state already.
    void mark(std::uint64_t first, std::uint64_t last, State state, Reason reason);
    /// Marks known seqs of this range that are missing as lost, for the reason of a notice if there was one, else for
    /// `reason`.
    void abandon(Reason reason, std::uint64_t first = 0, std::uint64_t last = seq_max);
    [[nodiscard]] std::uint64_t last_known() const noexcept { return end_ - 1; }

    /// Marks the epoch as ending because the gateway started another one. Its last seq must then be requested.
    void begin_end() noexcept { is_ending_ = true; }
    void end() noexcept { is_ending_ = is_ended_ = true; }
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_ && !is_ended_; }
    /// Returns whether there is something to request.
    [[nodiscard]] bool is_open() const noexcept { return is_started() && (next_ < end_ || is_ending()); }
    [[nodiscard]] bool is_done() const noexcept { return is_ended_ && is_started() && next_ == end_; }

    /// Calls `take` with the first and last seq of each hole until it returns false. Returns whether it took all holes.
    /// The last hole of an ending line is open-ended: its last seq is 0.
    template <class Take>
    [[nodiscard]] bool each_hole(const Take& take) const {
        std::uint64_t first = 0;  // of the hole before `seq`, or 0
        for (const auto& [seq, range] : ranges_) {
            const bool is_missing = range.state < State::gone;
            if (!is_missing && first != 0 && !take(first, seq - 1)) {
                return false;
            }
            first = !is_missing ? 0 : first == 0 ? seq : first;
        }
        return (first == 0 || take(first, end_ - 1)) && (!is_ending() || take(end_, std::uint64_t{0}));
    }

    /// Outputs the samples and losses that are next in order. `head` supplies the topic, its index and its unit.
    void drain(const Sample& head, MergerOutput& output);
    /// Discards what is kept; it is requested again.
    void drop_ahead();

  private:
    struct Item {
        std::int64_t time_utc_ns;
        Value value;  // without its text
        std::string text;
        Quality quality;
        bool replayed;
    };
    struct Range {
        State state = State::missing;
        Reason reason = Reason::other;
        std::vector<Item> samples;  // State::kept: one for each seq
    };
    using Ranges = std::map<std::uint64_t, Range>;

    [[nodiscard]] std::uint64_t begin() const noexcept { return next_ == 0 ? 1 : next_; }
    Ranges::iterator add(std::uint64_t first, Range range);
    Ranges::iterator remove(Ranges::iterator at);
    Ranges::iterator split(std::uint64_t seq);
    Ranges::iterator join(Ranges::iterator at);
    template <class Change>
    void change(std::uint64_t first, std::uint64_t last, const Change& change);
    void write_to(const Range& range, Sample sample, MergerOutput& output) const;

    std::int64_t epoch_;
    Kept* kept_;
    std::uint64_t next_ = 0;  // 0: not started
    std::uint64_t end_ = 1;   // after the last seq that is known to exist
    Ranges ranges_;           // by first seq, without space between them, from begin() to end_
    bool is_ending_ = false;
    bool is_ended_ = false;
};

}  // namespace telegate::tail
