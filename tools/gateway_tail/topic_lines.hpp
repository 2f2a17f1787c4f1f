#pragma once

#include "sample.hpp"
#include "seq_line.hpp"
#include "splice_output.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate::tail {

/// Numbers that a gateway could make grow.
namespace splice_limits {
/// Channels of a gateway; more are not taken, and counted.
inline constexpr std::size_t topics_max = 65'536;
/// Samples that wait for those before them: a second of a busy gateway, 25 MB.
inline constexpr std::size_t kept_samples_max = 262'144;
/// Their texts.
inline constexpr std::size_t kept_text_bytes_max = 16 * 1024 * 1024;
/// Ranges known as gone or told, 64 bytes each.
inline constexpr std::size_t kept_ranges_max = 65'536;
/// Epochs of one topic that are not closed yet: a gateway that is restarted over and over.
inline constexpr std::size_t lines_per_topic_max = 8;
/// Former epochs that are remembered, to know late samples of theirs.
inline constexpr std::size_t epochs_max = 64;
}  // namespace splice_limits

/// The samples of all topics, by epoch: gives each out once and in order, and knows what is missing.
///
/// Threads: one.
/// Limits:  splice_limits; what is over them is forgotten, to be asked for again, or counted.
/// Failure: std::bad_alloc.
class TopicLines {
  public:
    struct Topic {
        std::string_view name;  // in the map
        std::string unit;
        std::uint32_t index = 0;
        bool is_waiting = false;     // it is in waiting()
        std::vector<SeqLine> lines;  // by epoch, the oldest first; only that one gives out
    };
    /// Whether it is known where the lines of the first epoch begin.
    enum class Baseline : std::uint8_t { pending, known, unknown };
    struct Counts {
        std::uint64_t duplicates = 0;       // left out
        std::uint64_t buffers_dropped = 0;  // kept samples of a topic were forgotten and are asked for again
        std::uint64_t topics_refused = 0;   // messages over topics_max
    };

    /// `recover`: what is missing may come later; otherwise it is lost.
    TopicLines(bool recover, std::size_t kept_samples_max, SpliceOutput& output)
        : recover_(recover),
          kept_samples_max_(kept_samples_max),
          output_(&output),
          baseline_(recover ? Baseline::pending : Baseline::unknown) {}

    /// The usual case: gives out a live sample whose turn it is, when nothing is kept of its topic. False otherwise.
    [[nodiscard]] bool give_next(const Sample& sample) {
        const auto found = topics_.find(sample.topic);
        if (found == topics_.end() || found->second.lines.size() != 1 ||
            !found->second.lines.front().take_next(sample.epoch, sample.seq)) {
            return false;
        }
        Sample given = sample;
        given.topic_index = found->second.index;
        given.unit = given.unit.empty() ? std::string_view(found->second.unit) : given.unit;
        output_->give(given);
        return true;
    }
    void take(const Sample& sample);
    /// A notice of the publish endpoint.
    void take_gap(const Gap& gap);
    void take_beat(const Beat& beat);

    /// Null over topics_max.
    [[nodiscard]] Topic* topic_of(std::string_view name);
    /// Null for a topic that is not known.
    [[nodiscard]] Topic* find(std::string_view name);
    /// Null when this epoch of the topic is closed.
    [[nodiscard]] SeqLine* line_of(Topic& topic, std::int64_t epoch);
    /// After each change of a line: gives out what can be, and notes whether something is missing.
    void after_change(Topic& topic);

    /// 0: none is known yet.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] bool is_former(std::int64_t epoch) const;
    /// The lines of the epoch before it end, and how far they went is to be asked. False when there was none.
    bool begin_epoch(std::int64_t epoch);
    /// What came after the last known sample of this epoch cannot be found out. Told once.
    void tell_end_unknown(std::int64_t epoch);

    [[nodiscard]] Baseline baseline() const noexcept { return baseline_; }
    void begin_lines(Baseline baseline);
    /// All that is missing is lost.
    void give_up(Reason reason);

    /// Whether there is something to be asked for.
    [[nodiscard]] bool is_missing();
    /// Topics that may have something to be asked for; all of them, after is_missing().
    [[nodiscard]] const std::vector<Topic*>& waiting() const noexcept { return waiting_; }
    [[nodiscard]] std::size_t topics() const noexcept { return topics_.size(); }
    [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

  private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
    };

    [[nodiscard]] SeqLine* live_line(std::string_view topic, std::int64_t epoch, Topic*& owner);
    void keep_within_limits(Topic& topic);

    const bool recover_;
    const std::size_t kept_samples_max_;
    SpliceOutput* const output_;
    Counts counts_;
    Kept kept_;
    std::unordered_map<std::string, Topic, TextHash, std::equal_to<>> topics_;
    std::vector<Topic*> waiting_;
    std::int64_t epoch_ = 0;
    std::deque<std::int64_t> former_;    // epochs before it
    std::int64_t end_unknown_told_ = 0;  // of the latest such epoch
    bool is_first_epoch_ = true;         // later ones begin with seq 1
    Baseline baseline_;
};

}  // namespace telegate::tail
