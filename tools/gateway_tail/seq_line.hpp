#pragma once

#include "sample.hpp"
#include "seq_ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace telegate::tail {

class SpliceOutput;

/// What all lines together keep.
struct Kept {
    std::size_t samples = 0;
    std::size_t text_bytes = 0;
    std::size_t ranges = 0;
};

/// Seqs of one line that are to be asked for.
struct SeqHole {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // 0: up to what is published
};

/// The samples of one topic in one epoch: which is the next, what has come before its turn, what is missing.
///
/// Threads: one.
/// Limits:  the splice's, which counts in `Kept` and calls drop_ahead().
/// Failure: std::bad_alloc.
class SeqLine {
  public:
    SeqLine(std::int64_t epoch, Kept& kept) noexcept : epoch_(epoch), kept_(&kept) {}

    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

    /// Until then nothing is given out. What lies before `first` is left out.
    void start(std::uint64_t first);
    /// With the first that is known; 1 when nothing is.
    void start_at_first_known();
    [[nodiscard]] bool is_started() const noexcept { return next_ != 0; }
    /// Of what has come before its turn, or was told; what is behind all that is known when there is nothing.
    [[nodiscard]] std::uint64_t first_known() const;
    /// What the first snapshot said; remembered for start().
    std::uint64_t baseline = 0;

    /// The common case: this is the sample that is expected, and nothing is kept. Then it counts as given.
    [[nodiscard]] bool take_next(std::int64_t epoch, std::uint64_t seq) noexcept {
        if (seq != next_ || known_last_ >= seq || epoch != epoch_) {
            return false;
        }
        known_last_ = seq;
        ++next_;
        return true;
    }
    /// False for a duplicate.
    [[nodiscard]] bool insert(const Sample& sample);
    /// They will not come.
    void add_gone(std::uint64_t first, std::uint64_t last, Reason reason);
    /// They did not come, and may be recovered; otherwise this is why.
    void add_told(std::uint64_t first, std::uint64_t last, Reason reason);
    /// There are seqs up to `seq`.
    void know(std::uint64_t seq) noexcept { known_last_ = seq > known_last_ ? seq : known_last_; }

    /// The gateway has begun another epoch: how far this one went is to be asked.
    void begin_end() noexcept { is_ending_ = true; }
    void end() noexcept { is_ending_ = is_ended_ = true; }
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_ && !is_ended_; }
    /// Whether there is something to be asked for.
    [[nodiscard]] bool is_open() const noexcept { return is_started() && (next_ <= known_last_ || is_ending()); }
    [[nodiscard]] bool is_done() const noexcept { return is_ended_ && is_started() && next_ > known_last_; }

    /// At most `count_max`; the open end of an ending line is the last one. Whether that is all.
    [[nodiscard]] bool add_holes(std::vector<SeqHole>& holes, std::size_t count_max) const;
    /// What is missing within these bounds is lost: for the reason that was told, or for this one.
    void give_up(std::uint64_t first, std::uint64_t last, Reason reason);
    void give_up(Reason reason) { give_up(next_, known_last_, reason); }
    /// The same, for the reason that the gateway's answer names: it knows better than a notice before it.
    void lose_as_told(std::uint64_t first, std::uint64_t last, Reason reason);

    /// Gives out and loses what its turn has come for. `head` names the topic; its other fields are not used.
    void drain(const Sample& head, SpliceOutput& output);
    /// Forgets what has come before its turn; it is asked for again.
    void drop_ahead();

  private:
    struct Item {
        std::int64_t time_utc_ns;
        Value value;  // without its text
        std::string text;
        Quality quality;
        bool replayed;
    };
    using Run = std::vector<Item>;  // of seqs without a hole

    [[nodiscard]] bool is_before_its_time(std::uint64_t seq) const noexcept { return is_started() && seq < next_; }
    void give_run(const Sample& head, SpliceOutput& output);
    void lose_range(const Sample& head, SpliceOutput& output);
    void count_out(const Item& item) const noexcept;
    /// The next seq from `seq` on that is neither kept nor gone.
    [[nodiscard]] std::uint64_t next_missing(std::uint64_t seq) const;
    /// The next seq from `seq` on that is kept or gone.
    [[nodiscard]] std::uint64_t next_known(std::uint64_t seq) const;
    void update_ranges(std::size_t before) const noexcept;

    std::int64_t epoch_;
    Kept* kept_;
    std::uint64_t next_ = 0;        // 0: not started
    std::uint64_t known_last_ = 0;  // there are seqs up to this one
    std::uint64_t first_dropped_ = seq_max + 1;
    std::map<std::uint64_t, Run> runs_;  // by first seq
    SeqRanges gone_;
    SeqRanges told_;
    bool is_ending_ = false;
    bool is_ended_ = false;
};

}  // namespace telegate::tail
