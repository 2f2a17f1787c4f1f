#include "splice.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;

/// Pause after a reply from another gateway or another epoch.
constexpr milliseconds pause_foreign{200};
constexpr milliseconds pause_busy_min{10};
constexpr milliseconds pause_busy_max{10'000};

Sample as_replayed(Sample sample) {
    sample.replayed = true;
    return sample;
}

}  // namespace

Splice::Splice(SpliceOptions options, SpliceOutput& output)
    : options_(std::move(options)),
      lines_(options_.recover, options_.kept_samples_max, counts_, output),
      pages_(options_.prefixes, options_.recover ? options_.since : "") {
    want_snapshot();
}

void Splice::take_live(const Sample& sample) {
    see_live_epoch(sample.epoch);
    lines_.take(sample);
}

void Splice::gap(const Gap& gap) {
    see_live_epoch(gap.epoch);
    const bool is_for_us_only = gap.reason == Reason::slow || gap.reason == Reason::expired;
    lines_.change(lines_.topic_of(gap.topic), gap.epoch, [&](SeqLine& line) {
        if (is_for_us_only && options_.recover) {
            line.add_reported(gap.first_seq, gap.last_seq, gap.reason);
        } else {
            line.add_gone(gap.first_seq, gap.last_seq, gap.reason);
        }
    });
}

void Splice::beat(const Beat& beat) {
    if (beat.seq != 0) {  // seq 0: the channel has published nothing yet
        see_live_epoch(beat.epoch);
        lines_.change(lines_.topic_of(beat.topic), beat.epoch, [&beat](SeqLine& line) { line.know(beat.seq); });
    }
}

void Splice::see_live_epoch(std::int64_t epoch) {
    if (epoch == lines_.epoch()) {
        is_live_known_ = true;
    } else if (!lines_.is_former(epoch)) {  // a message of the previous epoch was in flight when the gateway restarted
        is_live_known_ = true;
        begin_epoch(epoch);
    }
}

void Splice::begin_epoch(std::int64_t epoch) {
    const std::int64_t before = lines_.epoch();
    if (before != 0) {
        fail_begin();
    }
    lines_.begin_epoch(epoch);
    pages_.set_hole_position(std::nullopt);
    if (before != 0 && options_.recover) {
        pages_.want_past(before);
        want_snapshot();
    }
}

/// Stops waiting for the first snapshot and the history for --since.
void Splice::fail_begin() {
    if (!has_begun()) {
        counts_.since_failed = pages_.is_since_wanted();
        counts_.baseline_failed = true;
        pages_.drop_since();
    }
}

void Splice::give_up(Reason reason) {
    fail_begin();
    pages_.drop_snapshot();
    end_past();
    lines_.give_up(reason);
}

void Splice::end_past() {
    pages_.drop_past();
    lines_.end_past();
}

void Splice::want_snapshot() {
    if (!options_.recover) {
        return;
    }
    pages_.want_snapshot();
    if (schedule_.is_in_flight(Request::Kind::snapshot)) {
        schedule_.forget();
    }
}

void Splice::stalled(Time now) {
    schedule_.look_again(now);
}

void Splice::look_last() {
    last_look_ = LastLook::wanted;
    schedule_.drop_second_look();
    schedule_.ask_at_once();
    want_snapshot();
}

void Splice::live_up(Time now) {
    is_live_known_ = false;
    schedule_.live_up(now);
    want_snapshot();
}

void Splice::live_down(Time /*now*/) {
    is_live_known_ = false;
    schedule_.live_down();
}

void Splice::services_up(Time /*now*/) {
    schedule_.services_up();
    if (!pages_.is_snapshot_wanted()) {
        want_snapshot();
    }
}

bool Splice::is_settled() {
    return !is_missing() && !pages_.is_snapshot_wanted() && !schedule_.is_in_flight();
}

std::optional<Request> Splice::turn(Time now) {
    if (!options_.recover) {
        return std::nullopt;
    }
    schedule_.drop_overdue(now);
    if (schedule_.take_second_look(now) && !pages_.is_snapshot_wanted()) {
        want_snapshot();
    }
    if (schedule_.take_hopeless(is_missing(), now)) {
        give_up(Reason::no_answer);
    }
    if (!schedule_.may_ask(now)) {
        return std::nullopt;
    }
    auto request = pages_.next(lines_);
    return request ? std::optional(schedule_.ask(std::move(*request), now)) : std::nullopt;
}

Time Splice::next_turn() const {
    if (!options_.recover) {
        return RequestSchedule::never;
    }
    const bool has_waiting = !lines_.waiting().empty();
    const bool is_behind = pages_.is_past_wanted() || has_waiting;
    return schedule_.next_turn(pages_.is_snapshot_wanted() || pages_.is_since_wanted() || is_behind,
                               !has_begun() || is_behind);
}

/// Returns whether the reply comes from the gateway whose samples are received.
bool Splice::accept_epoch(std::int64_t epoch) {
    if (epoch == lines_.epoch()) {
        return true;
    }
    if (lines_.epoch() != 0 && (is_live_known_ || lines_.is_former(epoch))) {
        return false;
    }
    begin_epoch(epoch);
    return true;
}

void Splice::answer(const Answer& answer, Time now) {
    const auto request = schedule_.take_answered(answer.id);
    if (!request) {
        ++counts_.answers_ignored;
        return;
    }
    const bool is_new_epoch = answer.epoch != lines_.epoch() && lines_.epoch() != 0;
    if (!accept_epoch(answer.epoch)) {
        ++counts_.answers_ignored;
        schedule_.ask_after(now + pause_foreign);
        return;
    }
    if (answer.error) {
        take_error(*answer.error, *request, now);
        return;
    }
    const bool is_of_one_epoch = request->kind == Request::Kind::holes || request->kind == Request::Kind::past;
    if (is_new_epoch && !is_of_one_epoch) {
        return;  // restarts with the first page
    }
    switch (request->kind) {
        case Request::Kind::snapshot: take_snapshot(answer, now); break;
        case Request::Kind::since: take_since(answer); break;
        case Request::Kind::past: take_past(answer, *request); break;
        case Request::Kind::holes: return take_holes(answer, *request, now);
    }
    schedule_.note_progress(now);
}

void Splice::take_error(const AnswerError& error, const Request& request, Time now) {
    if (error.code == "busy") {
        schedule_.note_progress(now);
        schedule_.ask_after(now + std::clamp(error.retry_after, pause_busy_min, pause_busy_max));
        return;
    }
    if (request.kind == Request::Kind::past) {  // also of an older gateway, which does not know this request
        if (error.code == "unknown_epoch") {
            lines_.tell_end_unknown(request.epoch);
        }
        return end_past();
    }
    if (error.code == "unknown_epoch") {
        if (request.kind == Request::Kind::holes && request.epoch != lines_.epoch()) {
            end_lines({}, request, Reason::unknown_epoch);
        } else if (request.kind == Request::Kind::since && request.epoch != lines_.epoch()) {
            pages_.restart_since();
        } else {
            schedule_.ask_after(now + pause_foreign);
        }
        return;
    }
    if (request.kind == Request::Kind::snapshot && request.removed && error.pointer == "/removed") {
        pages_.leave_out_removed();  // an older gateway
        return;
    }
    if (request.kind == Request::Kind::since && error.pointer == "/earlier_runs") {
        pages_.leave_out_earlier_runs();
        return;
    }
    counts_.refusal = error.code + ": " + error.detail;
    give_up(Reason::no_answer);
}

void Splice::take_snapshot(const Answer& answer, Time now) {
    std::unordered_map<std::string_view, std::uint64_t> ends;  // topics with losses after their last sample
    for (const Gap& gone : answer.gone) {
        ends[gone.topic] = gone.last_seq;
    }
    for (const Sample& sample : answer.samples) {
        if (sample.epoch == lines_.epoch()) {
            const auto end = ends.find(sample.topic);
            take_snapshot_sample(sample, end == ends.end() ? sample.seq : end->second);
        }
    }
    for (const Gap& gone : answer.gone) {
        take_snapshot_gap(gone);
    }
    if (!pages_.end_snapshot_page(answer)) {
        return;
    }
    if (last_look_ == LastLook::wanted) {
        last_look_ = LastLook::done;
        schedule_.ask_after(now + on_its_way);
    }
    if (!has_begun() && !pages_.is_since_wanted()) {
        lines_.begin_lines(Baseline::known);
    }
}

/// `last_seq` is the last seq of the topic, which is higher than that of the sample if samples after it were lost.
void Splice::take_snapshot_sample(const Sample& sample, std::uint64_t last_seq) {
    lines_.change(lines_.topic_of(sample), lines_.epoch(), [&](SeqLine& line) {
        if (line.is_started() || pages_.has_snapshot()) {
            line.insert(as_replayed(sample));
        } else if (options_.last && !pages_.is_since_wanted()) {
            line.start(sample.seq);
            line.insert(sample);
        } else {
            begin_line(line, last_seq);
        }
    });
}

/// Samples before the first snapshot are not missing.
void Splice::begin_line(SeqLine& line, std::uint64_t last_seq) const {
    line.know(last_seq);
    if (pages_.is_since_wanted()) {
        line.baseline = last_seq;
    } else {
        line.start(std::min(line.first_known(), last_seq + 1));
    }
}

/// The gap follows the last sample, or there is no sample at all.
void Splice::take_snapshot_gap(const Gap& gone) {
    lines_.change(lines_.topic_of(gone.topic), lines_.epoch(), [&](SeqLine& line) {
        if (line.is_started() || pages_.has_snapshot()) {
            line.add_gone(gone.first_seq, gone.last_seq, gone.reason);
        } else {
            begin_line(line, gone.last_seq);
        }
    });
}

void Splice::take_past(const Answer& answer, const Request& request) {
    for (const PastTopic& past : answer.past) {
        lines_.take_past(past.topic, request.epoch, past.last_seq, answer.is_end_known);
    }
    if (!answer.is_end_known) {
        lines_.tell_end_unknown(request.epoch);
    }
    if (pages_.end_past_page(answer, lines_.epoch())) {
        end_past();
    }
}

void Splice::take_since(const Answer& answer) {
    for (const Sample& sample : answer.samples) {
        counts_.since_first_utc_ns =
            std::min(counts_.since_first_utc_ns.value_or(sample.time_utc_ns), sample.time_utc_ns);
        const bool is_earlier = sample.epoch == answer.samples_epoch && sample.epoch < lines_.epoch();
        if (!is_earlier && sample.epoch != lines_.epoch()) {
            continue;
        }
        TopicLines::Topic* const topic = lines_.topic_of(sample);
        if (topic != nullptr && is_earlier) {
            lines_.add_earlier_line(*topic, sample.epoch);
        }
        lines_.change(topic, sample.epoch, [&](SeqLine& line) {
            if (!line.is_started()) {
                const std::uint64_t first = is_earlier ? sample.seq : std::min(sample.seq, line.baseline + 1);
                line.start(pages_.is_whole_epoch() ? 1 : first);
            }
            line.insert(sample);
        });
    }
    if (answer.is_end && !answer.is_end_known) {
        lines_.tell_end_unknown(answer.samples_epoch);
    }
    if (pages_.end_since_page(answer)) {
        lines_.begin_lines(Baseline::known);
    }
}

void Splice::take_holes(const Answer& answer, const Request& request, Time now) {
    const bool is_present = request.epoch == lines_.epoch();
    for (const Sample& sample : answer.samples) {
        lines_.take(as_replayed(sample));
    }
    for (const Gap& gone : answer.gone) {
        lines_.change(lines_.find(gone.topic), request.epoch, [&gone](SeqLine& line) {
            line.know(line.is_ending() ? gone.last_seq : 0);
            line.lose(gone.first_seq, gone.last_seq, gone.reason);
        });
    }
    if (!is_present) {
        if (!answer.is_end_known) {
            lines_.tell_end_unknown(request.epoch);
        }
        end_lines(answer, request, Reason::not_retained);
    }
    const bool has_more = !answer.left.empty();
    pages_.set_hole_position(has_more && is_present ? answer.position : std::nullopt);
    if (!answer.samples.empty() || !answer.gone.empty() || has_more || !is_present) {
        schedule_.note_help(now);
    } else {
        schedule_.note_empty_answer(now);
    }
}

/// The reply about a previous epoch is final; only topics in `left` are requested again.
void Splice::end_lines(const Answer& answer, const Request& request, Reason reason) {
    for (const TopicHole& hole : request.holes) {
        const bool is_left = std::find(answer.left.begin(), answer.left.end(), hole.topic) != answer.left.end();
        lines_.change(is_left ? nullptr : lines_.find(hole.topic), request.epoch, [&](SeqLine& line) {
            line.give_up(hole.first_seq, hole.last_seq == 0 ? seq_max : hole.last_seq, reason);
            if (hole.last_seq == 0) {
                line.end();
            }
            if (reason == Reason::unknown_epoch) {
                lines_.tell_end_unknown(request.epoch);
                line.end();
                line.give_up(reason);
            }
        });
    }
}

}  // namespace telegate::tail
