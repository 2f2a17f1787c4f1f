#pragma once

#include "requests.hpp"
#include "sample.hpp"
#include "seq_line.hpp"
#include "service_messages.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate::tail {

/// Receives the output of the merger. Implementations must not call the merger.
class MergerOutput {
  public:
    MergerOutput() = default;
    virtual ~MergerOutput() = default;
    MergerOutput(const MergerOutput&) = delete;
    MergerOutput& operator=(const MergerOutput&) = delete;

    /// Receives a sample. Each seq of a topic and epoch is output at most once, in order.
    virtual void write(const Sample& sample) = 0;
    /// Receives a range of seqs that will not be output, in the order of the topic: after the samples before it.
    virtual void lose(const Gap& gap) = 0;
    /// Reports that samples after the last known one of this epoch cannot be determined.
    virtual void end_unknown(std::int64_t epoch) = 0;
};

/// Limits on the data that this program stores for a gateway.
namespace merger_limits {
/// Maximum number of topics; messages of further ones are ignored and counted.
inline constexpr std::size_t topics_max = 65'536;
/// Samples that wait for earlier ones: one second of a busy gateway, 25 MB.
inline constexpr std::size_t kept_samples_max = 262'144;
/// Total size of their texts.
inline constexpr std::size_t kept_text_bytes_max = 16 * 1024 * 1024;
/// Ranges of seqs that are kept, lost or missing, 80 bytes each.
inline constexpr std::size_t kept_ranges_max = 131'072;
/// Open epochs of one topic, for a gateway that is restarted repeatedly.
inline constexpr std::size_t lines_per_topic_max = 8;
}  // namespace merger_limits

/// Failures and losses of the merger.
struct MergerCounts {
    std::uint64_t topics_refused = 0;                // messages of topics beyond topics_max
    std::uint64_t answers_ignored = 0;               // without a matching request, or from another gateway
    std::optional<std::int64_t> since_first_utc_ns;  // time of the earliest sample that --since returned
    bool since_failed = false;
    bool baseline_failed = false;
    std::string refusal;  // error of the last request that failed
};

struct MergerOptions {
    std::vector<std::string> prefixes{""};  // at least one
    std::string since{};                    // empty: none
    bool last = false;                      // outputs the last value of each topic first
    bool recover = true;                    // missing samples may arrive later; otherwise they are lost
    std::size_t kept_samples_max = merger_limits::kept_samples_max;
};

/// Merges live samples with recovered ones, so that each sample is output once and in order, or reported as lost.
/// Interprets replies from the services and decides what to request next.
///
/// Threads: one. It has no sockets and no clock: the owner passes messages and the time.
/// Limits: merger_limits; samples beyond them are discarded and requested again, or counted.
/// Failure: std::bad_alloc.
class Merger {
  public:
    /// Time for samples of the last snapshot to arrive over the publish endpoint before they are requested.
    static constexpr std::chrono::milliseconds on_its_way{100};

    Merger(MergerOptions options, MergerOutput& output);

    // Messages of the publish endpoint.
    void live(const Sample& sample) {
        const auto found = epochs_.is_live_known ? topics_.find(sample.topic) : topics_.end();
        if (found == topics_.end() || found->second.lines.size() != 1 ||
            !found->second.lines.front().take_next(sample.epoch, sample.seq)) {
            add_live(sample);
            return;
        }
        Sample output = sample;
        output.topic_index = found->second.index;
        output.unit = output.unit.empty() ? std::string_view(found->second.unit) : output.unit;
        output_->write(output);
    }
    void gap(const Gap& gap);
    void beat(const Beat& beat);

    // Connection events. Messages that arrived before an event must be passed in before it.
    void live_up(Time now);
    void live_down();
    void services_up();
    void services_down(Time now) { requests_.services_down(now); }
    void answer(const Answer& answer, Time now);

    /// Performs the actions that are due. Returns the request to send now, if there is one.
    [[nodiscard]] std::optional<Request> turn(Time now);
    /// Returns when turn() has something to do if no event occurs before.
    [[nodiscard]] Time next_turn() const { return requests_.next_turn(!waiting_.empty()); }

    /// Returns whether all known samples were output or reported as lost.
    [[nodiscard]] bool is_settled() {
        return !is_missing() && !requests_.wants(Request::Kind::snapshot) && !requests_.is_in_flight();
    }
    /// Returns whether the first snapshot and the history for --since are complete or have failed.
    [[nodiscard]] bool has_begun() const noexcept { return begin_ != Begin::pending; }
    /// Returns whether samples are known to be missing, the first snapshot is not complete, or channels of earlier
    /// epochs are not known yet.
    [[nodiscard]] bool is_missing() { return has_holes() || !has_begun() || requests_.wants(Request::Kind::past); }
    /// Requests a snapshot to find missing samples after this program did not run for a while: kernel buffers were
    /// full, and the gateway's kernel may take many seconds to deliver the rest.
    void stalled(Time now) { requests_.schedule_check(now); }
    /// Requests the last snapshot before the program ends, to find published samples that have not arrived.
    void request_last_snapshot();
    [[nodiscard]] bool has_last_snapshot() const noexcept { return last_snapshot_ == LastSnapshot::done; }
    /// Reports all missing samples as lost.
    void finish() { abandon(Reason::ended); }

    [[nodiscard]] const MergerCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] std::size_t topics() const noexcept { return topics_.size(); }
    /// Returns the current epoch, or 0 if none is known yet.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epochs_.now; }

  private:
    using State = SeqLine::State;
    struct Topic {
        std::string_view name;  // points to the key in the map
        std::string unit;
        std::uint32_t index = 0;
        bool is_waiting = false;     // whether it is in waiting_
        std::vector<SeqLine> lines;  // by epoch, oldest first; only the first one outputs samples
    };
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
    };
    struct Epochs {
        std::int64_t now = 0;
        std::int64_t first = 0;            // lines of later epochs start with seq 1
        std::vector<std::int64_t> former;  // latest ones, to recognize their late messages
        std::int64_t end_unknown = 0;      // latest one that was reported
        bool is_live_known = false;        // whether a message has shown the epoch of this connection
        bool waits_for_past = false;       // lines of the current epoch do not start yet
    };
    /// Whether the first seqs of the first epoch are known.
    enum class Begin : std::uint8_t { pending, known, unknown };
    enum class LastSnapshot : std::uint8_t { none, wanted, done };

    // Epochs.
    bool accept_epoch(std::int64_t epoch, bool is_live);
    void begin_epoch(std::int64_t epoch);
    void end_past();
    void report_end_unknown(std::int64_t epoch);

    // Lines.
    [[nodiscard]] Topic* topic_of(std::string_view name, std::string_view unit = {});
    [[nodiscard]] SeqLine* line_of(Topic* topic, std::int64_t epoch);
    bool add_earlier_line(Topic* topic, std::int64_t epoch);
    template <class Change>
    void change(Topic* topic, std::int64_t epoch, const Change& change);
    template <class Change>
    void change_all(const Change& change);
    void after_change(Topic& topic);
    void keep_within_limits(Topic& topic);
    void begin_lines(Begin begin);
    void fail_begin();
    void abandon(Reason reason);
    void add(const Sample& sample);
    void add_live(const Sample& sample);

    // Requests and replies.
    [[nodiscard]] bool has_holes();
    [[nodiscard]] std::optional<Request> next_request();
    [[nodiscard]] std::optional<Request> hole_request();
    void handle_error(const AnswerError& error, const Request& request, Time now);
    void add_snapshot(const Request& request, const Answer& answer, Time now);
    void begin_line(SeqLine& line, std::uint64_t last_seq) const;
    void add_past(const Request& request, const Answer& answer);
    void add_since(const Request& request, const Answer& answer);
    void add_holes(const Request& request, const Answer& answer, Time now);
    void end_holes(const Request& request, const Answer& answer, Reason reason);

    const MergerOptions options_;
    MergerOutput* const output_;
    MergerCounts counts_;
    Epochs epochs_;
    SeqLine::Kept kept_;
    std::unordered_map<std::string, Topic, TextHash, std::equal_to<>> topics_;
    std::vector<Topic*> waiting_;  // topics that may have something to request; after has_holes(), exactly those
    Requests requests_;
    std::optional<std::uint64_t> hole_position_;  // a hint for the next request
    Begin begin_;
    bool has_snapshot_ = false;
    LastSnapshot last_snapshot_ = LastSnapshot::none;
};

}  // namespace telegate::tail
