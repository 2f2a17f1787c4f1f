#pragma once

#include "sample.hpp"
#include "seq_line.hpp"
#include "service_messages.hpp"
#include "splice_output.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate::tail {

using Time = std::chrono::steady_clock::time_point;

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
/// Of one request: docs/wire.md allows 1,000 holes and 64 KiB.
inline constexpr std::size_t holes_per_request_max = 1'000;
inline constexpr std::size_t request_bytes_max = 60'000;
}  // namespace splice_limits

/// How long is waited for what.
struct Patience {
    /// Services that are not reachable: after that, what is missing is lost.
    std::chrono::milliseconds unreachable{2'000};
    /// Services that are reachable and do not help.
    std::chrono::milliseconds silent{10'000};
    /// One answer, at first; doubled each time that none comes.
    std::chrono::milliseconds answer{1'000};
    /// After a connection was made: one more snapshot, for what was published before the subscription was in force.
    std::chrono::milliseconds second_look{500};
    /// What the last snapshot shows and is on its way live, before it is asked for.
    std::chrono::milliseconds on_its_way{100};
};

struct SpliceOptions {
    std::vector<std::string> prefixes{""};  // at least one
    std::string since{};                    // "": none
    bool last = false;                      // gives out the last value of each topic first
    bool recover = true;
    std::size_t kept_samples_max = splice_limits::kept_samples_max;
    Patience patience{};
};

struct SpliceCounts {
    std::uint64_t duplicates = 0;       // left out
    std::uint64_t buffers_dropped = 0;  // kept samples of a topic were forgotten and are asked for again
    std::uint64_t topics_refused = 0;   // messages over topics_max
    std::uint64_t requests = 0;
    std::uint64_t answers_missing = 0;
    std::uint64_t answers_ignored = 0;  // to no request, or of another gateway
    std::uint64_t gave_up = 0;
    std::optional<std::int64_t> since_first_utc_ns;  // of the earliest sample that --since brought
    bool since_failed = false;
    bool baseline_failed = false;
    std::string refusal;  // of the last request that was an error
};

/// Joins what comes live with what is recovered: each sample is given out once and in order, or named lost.
///
/// Threads: one. It has no socket and no clock: who owns it tells it the time.
/// Limits:  splice_limits; what is over them is forgotten and asked for again, or counted.
/// Failure: std::bad_alloc.
class Splice {
  public:
    Splice(SpliceOptions options, SpliceOutput& output);

    // What comes over the publish endpoint.
    void live(const Sample& sample) {
        const auto found = topics_.find(sample.topic);
        if (found != topics_.end() && is_live_known_ && found->second.lines.size() == 1 &&
            found->second.lines.front().take_next(sample.epoch, sample.seq)) {
            Sample given = sample;
            given.topic_index = found->second.index;
            given.unit = given.unit.empty() ? std::string_view(found->second.unit) : given.unit;
            output_->give(given);
            return;
        }
        take_live(sample);
    }
    void gap(const Gap& gap);
    void beat(const Beat& beat);

    // Connections, and the time. What came before must have been told before.
    void live_up(Time now);
    void live_down(Time now);
    void services_up(Time now);
    void services_down(Time now);
    void answer(const Answer& answer, Time now);

    /// Does what is due; then gives the request that is to be sent now, if there is one.
    [[nodiscard]] std::optional<Request> turn(Time now);
    /// When turn() has something to do, if nothing comes before.
    [[nodiscard]] Time next_turn() const;

    /// Whether all that is known is given out or lost.
    [[nodiscard]] bool is_settled();
    /// Whether the first snapshot, and what --since asked for, are through.
    [[nodiscard]] bool has_begun() const noexcept { return baseline_ != Baseline::pending; }
    /// Something is known to be missing, or it has not begun.
    [[nodiscard]] bool is_missing() { return has_need(); }
    /// We did not run for a while: the kernels' buffers were full, and what comes then may take the gateway's kernel
    /// many seconds more. So a snapshot is to show what is missing.
    void held_up(Time now);
    /// Before the end: one more snapshot, which shows what was published and has not come.
    void look_last();
    [[nodiscard]] bool has_looked_last() const noexcept { return last_look_ == LastLook::done; }
    /// What is still missing is lost.
    void finish();

    [[nodiscard]] const SpliceCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] std::size_t topics() const noexcept { return topics_.size(); }
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

  private:
    enum class Baseline : std::uint8_t { pending, known, unknown };
    enum class LastLook : std::uint8_t { none, wanted, done };

    struct Topic {
        std::string_view name;  // in the map
        std::string unit;
        std::uint32_t index = 0;
        bool is_waiting = false;     // it is in waiting_
        std::vector<SeqLine> lines;  // by epoch, the oldest first; only that one gives out
    };
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
    };

    // Lines: splice.cpp
    void take_live(const Sample& sample);
    void take(const Sample& sample);
    Topic* topic_of(std::string_view name);
    SeqLine* line_of(Topic& topic, std::int64_t epoch);
    SeqLine* live_line(std::string_view topic, std::int64_t epoch, Topic*& owner);
    void after_change(Topic& topic);
    void keep_within_limits(Topic& topic);
    void see_live_epoch(std::int64_t epoch);
    void begin_epoch(std::int64_t epoch);
    [[nodiscard]] bool is_former(std::int64_t epoch) const;
    void tell_end_unknown(std::int64_t epoch);
    void begin_lines(Baseline baseline);
    void give_up(Reason reason);

    // What is asked, and when: splice_requests.cpp
    [[nodiscard]] bool has_need();
    void prune_waiting();
    [[nodiscard]] bool is_hopeless(Time now) const;
    [[nodiscard]] std::optional<Request> next_request();
    [[nodiscard]] Request hole_request();
    bool add_holes(const Topic& topic, const SeqLine& line, Request& request, std::size_t& bytes) const;
    void want_snapshot();

    // Answers: splice_answers.cpp
    [[nodiscard]] bool accept_epoch(std::int64_t epoch);
    void take_error(const AnswerError& error, const Request& request, Time now);
    void take_snapshot(const Answer& answer, Time now);
    void take_snapshot_sample(const Sample& sample, std::uint64_t last_seq);
    void take_snapshot_gap(const Gap& gone);
    void begin_line(Topic& topic, SeqLine& line, std::uint64_t last_seq);
    void take_since(const Answer& answer);
    void take_holes(const Answer& answer, const Request& request, Time now);
    void end_lines(const Answer& answer, const Request& request, Reason reason);

    SpliceOptions options_;
    SpliceOutput* output_;
    SpliceCounts counts_;
    Kept kept_;
    std::unordered_map<std::string, Topic, TextHash, std::equal_to<>> topics_;
    std::vector<Topic*> waiting_;  // that may have something to be asked for

    std::int64_t epoch_ = 0;             // the present one; 0: none is known yet
    std::deque<std::int64_t> former_;    // epochs before it
    std::int64_t end_unknown_told_ = 0;  // of the latest such epoch
    bool is_first_epoch_ = true;         // later ones begin with seq 1
    bool is_live_up_ = false;
    bool is_live_known_ = false;  // a message has shown the epoch of this connection
    bool are_services_up_ = false;
    Baseline baseline_ = Baseline::pending;

    bool is_snapshot_wanted_ = false;
    bool is_since_wanted_ = false;
    bool knows_removed_ = true;  // the gateway knows the key `removed`
    LastLook last_look_ = LastLook::none;
    bool has_snapshot_ = false;  // one was complete
    std::size_t prefix_at_ = 0;  // of the snapshot
    std::size_t since_prefix_at_ = 0;
    std::string after_;
    std::optional<std::uint64_t> since_position_;
    std::optional<std::uint64_t> hole_position_;

    static constexpr Time never = Time::max();
    std::optional<Request> in_flight_;
    std::uint64_t last_id_ = 0;
    unsigned answers_missing_ = 0;  // in a row
    unsigned empty_answers_ = 0;    // in a row
    Time answer_due_ = never;
    Time ask_after_ = Time::min();
    Time second_look_ = never;
    Time needed_since_ = never;
    Time progress_at_ = Time::min();
    Time live_up_at_ = Time::min();
    Time services_down_at_ = Time::min();
};

}  // namespace telegate::tail
