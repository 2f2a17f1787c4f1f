#pragma once

#include "request_pages.hpp"
#include "request_schedule.hpp"
#include "sample.hpp"
#include "service_messages.hpp"
#include "splice_output.hpp"
#include "topic_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate::tail {

struct SpliceOptions {
    std::vector<std::string> prefixes{""};  // at least one
    std::string since{};                    // "": none
    bool last = false;                      // gives out the last value of each topic first
    bool recover = true;
    std::size_t kept_samples_max = splice_limits::kept_samples_max;
    Patience patience{};
};

struct SpliceCounts {
    TopicLines::Counts lines{};
    std::uint64_t requests = 0;
    std::uint64_t answers_missing = 0;
    std::uint64_t answers_ignored = 0;  // to no request, or of another gateway
    std::uint64_t gave_up = 0;
    std::optional<std::int64_t> since_first_utc_ns;  // of the earliest sample that --since brought
    bool since_failed = false;
    bool baseline_failed = false;
    std::string refusal;  // of the last request that was an error
};

/// Joins what comes live with what is recovered: each sample is given out once and in order, or named lost. Decides
/// what an answer means for the lines of samples, for what is asked next, and for when.
///
/// Threads: one. It has no socket and no clock: who owns it tells it the time.
/// Limits:  splice_limits; what is over them is forgotten and asked for again, or counted.
/// Failure: std::bad_alloc.
class Splice {
  public:
    Splice(SpliceOptions options, SpliceOutput& output);

    // What comes over the publish endpoint.
    void live(const Sample& sample) {
        if (!is_live_known_ || !lines_.give_next(sample)) {
            take_live(sample);
        }
    }
    void gap(const Gap& gap);
    void beat(const Beat& beat);

    // Connections, and the time. What came before must have been told before.
    void live_up(Time now);
    void live_down(Time now);
    void services_up(Time now);
    void services_down(Time now) { schedule_.services_down(now); }
    void answer(const Answer& answer, Time now);

    /// Does what is due; then gives the request that is to be sent now, if there is one.
    [[nodiscard]] std::optional<Request> turn(Time now);
    /// When turn() has something to do, if nothing comes before.
    [[nodiscard]] Time next_turn() const;

    /// Whether all that is known is given out or lost.
    [[nodiscard]] bool is_settled();
    /// Whether the first snapshot, and what --since asked for, are through.
    [[nodiscard]] bool has_begun() const noexcept { return lines_.baseline() != Baseline::pending; }
    /// Something is known to be missing, or it has not begun.
    [[nodiscard]] bool is_missing() { return lines_.is_missing() || !has_begun(); }
    /// We did not run for a while: the kernels' buffers were full, and what comes then may take the gateway's kernel
    /// many seconds more. So a snapshot is to show what is missing.
    void held_up(Time now);
    /// Before the end: one more snapshot, which shows what was published and has not come.
    void look_last();
    [[nodiscard]] bool has_looked_last() const noexcept { return last_look_ == LastLook::done; }
    /// What is still missing is lost.
    void finish() { give_up(Reason::ended); }

    [[nodiscard]] SpliceCounts counts() const;
    [[nodiscard]] std::size_t topics() const noexcept { return lines_.topics(); }
    [[nodiscard]] std::int64_t epoch() const noexcept { return lines_.epoch(); }

  private:
    using Baseline = TopicLines::Baseline;
    enum class LastLook : std::uint8_t { none, wanted, done };

    void take_live(const Sample& sample);
    void see_live_epoch(std::int64_t epoch);
    void begin_epoch(std::int64_t epoch);
    void give_up(Reason reason);
    void want_snapshot();

    [[nodiscard]] bool accept_epoch(std::int64_t epoch);
    void take_error(const AnswerError& error, const Request& request, Time now);
    void take_snapshot(const Answer& answer, Time now);
    void take_snapshot_sample(const Sample& sample, std::uint64_t last_seq);
    void take_snapshot_gap(const Gap& gone);
    void begin_line(TopicLines::Topic& topic, SeqLine& line, std::uint64_t last_seq);
    void take_since(const Answer& answer);
    void take_holes(const Answer& answer, const Request& request, Time now);
    void end_lines(const Answer& answer, const Request& request, Reason reason);

    const SpliceOptions options_;
    SpliceCounts counts_;  // without those of lines_
    TopicLines lines_;
    RequestPages pages_;
    RequestSchedule schedule_;
    LastLook last_look_ = LastLook::none;
    bool is_live_known_ = false;  // a message has shown the epoch of this connection
};

}  // namespace telegate::tail
