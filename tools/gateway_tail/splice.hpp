#pragma once

#include "request_pages.hpp"
#include "request_schedule.hpp"
#include "sample.hpp"
#include "service_messages.hpp"
#include "topic_lines.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate::tail {

struct SpliceOptions {
    std::vector<std::string> prefixes{""};  // at least one
    std::string since{};                    // empty: none
    bool last = false;                      // outputs the last value of each topic first
    bool recover = true;
    std::size_t kept_samples_max = splice_limits::kept_samples_max;
};

/// Merges live samples with recovered ones, so that each sample is output once and in order, or reported as lost.
/// Interprets replies from the services and decides what to request next, and when.
///
/// Threads: one. It has no sockets and no clock: the owner passes messages and the time.
/// Limits: splice_limits; samples beyond them are discarded and requested again, or counted.
/// Failure: std::bad_alloc.
class Splice {
  public:
    /// Time for samples of the last snapshot to arrive over the publish endpoint before they are requested.
    static constexpr std::chrono::milliseconds on_its_way{100};

    Splice(SpliceOptions options, SpliceOutput& output);

    // Messages of the publish endpoint.
    void live(const Sample& sample) {
        if (!is_live_known_ || !lines_.give_next(sample)) {
            take_live(sample);
        }
    }
    void gap(const Gap& gap);
    void beat(const Beat& beat);

    // Connection events. Messages that arrived before an event must be passed in before it.
    void live_up(Time now);
    void live_down(Time now);
    void services_up(Time now);
    void services_down(Time now) { schedule_.services_down(now); }
    void answer(const Answer& answer, Time now);

    /// Performs the actions that are due. Returns the request to send now, if there is one.
    [[nodiscard]] std::optional<Request> turn(Time now);
    /// Returns when turn() has something to do if no event occurs before.
    [[nodiscard]] Time next_turn() const;

    /// Returns whether all known samples were output or reported as lost.
    [[nodiscard]] bool is_settled();
    /// Returns whether the first snapshot and the history for --since are complete.
    [[nodiscard]] bool has_begun() const noexcept { return lines_.baseline() != Baseline::pending; }
    /// Returns whether samples are known to be missing, the first snapshot is not complete, or channels of earlier
    /// epochs are not known yet.
    [[nodiscard]] bool is_missing() { return lines_.is_missing() || !has_begun() || pages_.is_past_wanted(); }
    /// Requests a snapshot to find missing samples after this program did not run for a while: kernel buffers were
    /// full, and the gateway's kernel may take many seconds to deliver the rest.
    void stalled(Time now);
    /// Requests the last snapshot before the program ends, to find published samples that have not arrived.
    void look_last();
    [[nodiscard]] bool has_looked_last() const noexcept { return last_look_ == LastLook::done; }
    /// Reports all missing samples as lost.
    void finish() { give_up(Reason::ended); }

    [[nodiscard]] const SpliceCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] std::size_t topics() const noexcept { return lines_.topics(); }
    [[nodiscard]] std::int64_t epoch() const noexcept { return lines_.epoch(); }

  private:
    using Baseline = TopicLines::Baseline;
    enum class LastLook : std::uint8_t { none, wanted, done };

    void take_live(const Sample& sample);
    void see_live_epoch(std::int64_t epoch);
    void begin_epoch(std::int64_t epoch);
    void fail_begin();
    void give_up(Reason reason);
    void end_past();
    void want_snapshot();

    [[nodiscard]] bool accept_epoch(std::int64_t epoch);
    void take_error(const AnswerError& error, const Request& request, Time now);
    void take_snapshot(const Answer& answer, Time now);
    void take_snapshot_sample(const Sample& sample, std::uint64_t last_seq);
    void take_snapshot_gap(const Gap& gone);
    void begin_line(SeqLine& line, std::uint64_t last_seq) const;
    void take_past(const Answer& answer, const Request& request);
    void take_since(const Answer& answer);
    void take_holes(const Answer& answer, const Request& request, Time now);
    void end_lines(const Answer& answer, const Request& request, Reason reason);

    const SpliceOptions options_;
    SpliceCounts counts_;
    TopicLines lines_;
    RequestPages pages_;
    RequestSchedule schedule_;
    LastLook last_look_ = LastLook::none;
    bool is_live_known_ = false;  // whether a message has shown the epoch of this connection
};

}  // namespace telegate::tail
