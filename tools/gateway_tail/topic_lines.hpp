#pragma once

#include "sample.hpp"
#include "seq_line.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate::tail {

/// Receives the output of the splice. Implementations must not call the splice.
class SpliceOutput {
  public:
    SpliceOutput() = default;
    virtual ~SpliceOutput() = default;
    SpliceOutput(const SpliceOutput&) = delete;
    SpliceOutput& operator=(const SpliceOutput&) = delete;

    /// Receives a sample. Each seq of a topic and epoch is output at most once, in order.
    virtual void give(const Sample& sample) = 0;
    /// Receives a range of seqs that will not be output, in the order of the topic: after the samples before it.
    virtual void lose(const Gap& gap) = 0;
    /// Reports that samples after the last known one of this epoch cannot be determined.
    virtual void end_unknown(std::int64_t epoch) = 0;
};

/// Limits on the data that this program stores for a gateway.
namespace splice_limits {
/// Maximum number of topics; messages of further ones are ignored and counted.
inline constexpr std::size_t topics_max = 65'536;
/// Samples that wait for earlier ones: one second of a busy gateway, 25 MB.
inline constexpr std::size_t kept_samples_max = 262'144;
/// Total size of their texts.
inline constexpr std::size_t kept_text_bytes_max = 16 * 1024 * 1024;
/// Lost and reported ranges, 64 bytes each.
inline constexpr std::size_t kept_ranges_max = 65'536;
/// Open epochs of one topic, for a gateway that is restarted repeatedly.
inline constexpr std::size_t lines_per_topic_max = 8;
/// Previous epochs that are remembered, to recognize their late samples.
inline constexpr std::size_t epochs_max = 64;
}  // namespace splice_limits

/// Failures and losses of the splice.
struct SpliceCounts {
    std::uint64_t buffers_dropped = 0;  // times that kept samples of a topic were discarded to be requested again
    std::uint64_t topics_refused = 0;   // messages of topics beyond topics_max
    std::uint64_t answers_ignored = 0;  // without a matching request, or from another gateway
    std::optional<std::int64_t> since_first_utc_ns;  // time of the earliest sample that --since returned
    bool since_failed = false;
    bool baseline_failed = false;
    std::string refusal;  // error of the last request that failed
};

/// The samples of all topics, by epoch. Outputs each sample once and in order, and tracks missing samples.
///
/// Threads: one.
/// Limits: splice_limits; samples beyond them are discarded to be requested again, or counted.
/// Failure: std::bad_alloc.
class TopicLines {
  public:
    struct Topic {
        std::string_view name;  // points to the key in the map
        std::string unit;
        std::uint32_t index = 0;
        bool is_waiting = false;     // whether it is in waiting()
        std::vector<SeqLine> lines;  // by epoch, oldest first; only the first one outputs samples
    };
    /// Whether the first seqs of the first epoch are known.
    enum class Baseline : std::uint8_t { pending, known, unknown };

    /// With `recover`, missing samples may arrive later; otherwise they are lost.
    TopicLines(bool recover, std::size_t kept_samples_max, SpliceCounts& counts, SpliceOutput& output)
        : recover_(recover),
          kept_samples_max_(kept_samples_max),
          counts_(&counts),
          output_(&output),
          baseline_(recover ? Baseline::pending : Baseline::unknown) {}

    /// Handles the common case: outputs a live sample that is next in order while nothing is kept for its topic.
    /// Returns false otherwise.
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

    /// Returns null if topics_max is reached.
    [[nodiscard]] Topic* topic_of(std::string_view name);
    /// Likewise. Takes over the unit of the sample, if it has one.
    [[nodiscard]] Topic* topic_of(const Sample& sample);
    /// Returns null for an unknown topic.
    [[nodiscard]] Topic* find(std::string_view name);
    /// Calls `change` with the line of this epoch, then outputs what is next in order. Does nothing if `topic` is null
    /// or this epoch of it is closed.
    template <class Change>
    void change(Topic* topic, std::int64_t epoch, const Change& change) {
        SeqLine* const line = topic == nullptr ? nullptr : line_of(*topic, epoch);
        if (line != nullptr) {
            change(*line);
            after_change(*topic);
        }
    }
    /// Adds a line for an earlier epoch, unless there is one. It is marked as ending, so that its last seq is
    /// requested. Returns whether it was added.
    bool add_earlier_line(Topic& topic, std::int64_t epoch);

    /// Returns the current epoch, or 0 if none is known yet.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] bool is_former(std::int64_t epoch) const;
    /// Starts an epoch. Lines of the previous one, if any, are marked as ending, so that their last seq is requested;
    /// the new epoch is then output after end_past().
    void begin_epoch(std::int64_t epoch);
    /// Adds a topic of an earlier epoch, of which nothing may have been received, with its last seq.
    void take_past(std::string_view name, std::int64_t epoch, std::uint64_t last_seq, bool is_end_known);
    void end_past();
    /// Reports once that samples after the last known one of this epoch cannot be determined.
    void tell_end_unknown(std::int64_t epoch);

    [[nodiscard]] Baseline baseline() const noexcept { return baseline_; }
    void begin_lines(Baseline baseline);
    /// Marks all missing samples as lost.
    void give_up(Reason reason);

    /// Returns whether there is something to request.
    [[nodiscard]] bool is_missing();
    /// Returns the topics that may have something to request; after is_missing(), exactly those.
    [[nodiscard]] const std::vector<Topic*>& waiting() const noexcept { return waiting_; }
    [[nodiscard]] std::size_t topics() const noexcept { return topics_.size(); }

  private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
    };

    [[nodiscard]] static SeqLine* find_line(Topic& topic, std::int64_t epoch);
    /// Returns null if this epoch of the topic is closed.
    [[nodiscard]] SeqLine* line_of(Topic& topic, std::int64_t epoch);
    template <class Change>
    void change_all(const Change& change);
    void after_change(Topic& topic);
    void keep_within_limits(Topic& topic);

    const bool recover_;
    const std::size_t kept_samples_max_;
    SpliceCounts* const counts_;
    SpliceOutput* const output_;
    Kept kept_;
    std::unordered_map<std::string, Topic, TextHash, std::equal_to<>> topics_;
    std::vector<Topic*> waiting_;
    std::int64_t epoch_ = 0;
    std::deque<std::int64_t> former_;        // previous epochs
    std::int64_t end_unknown_reported_ = 0;  // latest epoch that was reported
    std::int64_t first_epoch_ = 0;           // lines of later epochs start with seq 1
    bool waits_for_past_ = false;            // lines of the current epoch do not start yet
    Baseline baseline_;
};

}  // namespace telegate::tail
