// What the splice makes of answers of the gateway's services.
#include "splice.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;

/// After an answer of another gateway, or of another epoch.
constexpr milliseconds pause_foreign{200};
/// After an answer that brought nothing: doubled each time.
constexpr milliseconds pause_first{50};
constexpr milliseconds pause_max{1'000};
constexpr milliseconds pause_busy_min{10};
constexpr milliseconds pause_busy_max{10'000};

}  // namespace

/// Whether the answer is of the gateway whose samples come.
bool Splice::accept_epoch(std::int64_t epoch) {
    if (epoch == epoch_) {
        return true;
    }
    if (epoch_ != 0 && (is_live_known_ || is_former(epoch))) {
        return false;
    }
    begin_epoch(epoch);
    return true;
}

void Splice::answer(const Answer& answer, Time now) {
    if (!in_flight_ || answer.id != in_flight_->id) {
        ++counts_.answers_ignored;
        return;
    }
    const Request request = *std::exchange(in_flight_, std::nullopt);
    answers_missing_ = 0;
    const bool is_new_epoch = answer.epoch != epoch_ && epoch_ != 0;
    if (!accept_epoch(answer.epoch)) {
        ++counts_.answers_ignored;
        ask_after_ = now + pause_foreign;
        return;
    }
    if (answer.error) {
        take_error(*answer.error, request, now);
        return;
    }
    if (is_new_epoch && request.kind != Request::Kind::holes) {
        return;  // begins again with the first page
    }
    switch (request.kind) {
        case Request::Kind::snapshot: take_snapshot(answer, now); break;
        case Request::Kind::since: take_since(answer); break;
        case Request::Kind::holes: take_holes(answer, request, now); break;
    }
    if (request.kind != Request::Kind::holes) {
        progress_at_ = now;
    }
}

void Splice::take_error(const AnswerError& error, const Request& request, Time now) {
    if (error.code == "busy") {
        progress_at_ = now;
        ask_after_ = now + std::clamp(error.retry_after, pause_busy_min, pause_busy_max);
        return;
    }
    if (error.code == "unknown_epoch") {
        if (request.kind == Request::Kind::holes && request.epoch != epoch_) {
            end_lines({}, request, Reason::unknown_epoch);
        } else {
            ask_after_ = now + pause_foreign;
        }
        return;
    }
    if (request.kind == Request::Kind::snapshot && request.removed && error.pointer == "/removed") {
        knows_removed_ = false;  // an older gateway
        return;
    }
    counts_.refusal = error.code + ": " + error.detail;
    give_up(Reason::no_answer);
}

void Splice::take_snapshot(const Answer& answer, Time now) {
    std::unordered_map<std::string_view, std::uint64_t> ends;  // of topics that have lost something behind the sample
    for (const Gap& gone : answer.gone) {
        ends[gone.topic] = gone.last_seq;
    }
    for (const Sample& sample : answer.samples) {
        if (sample.epoch == epoch_) {
            const auto end = ends.find(sample.topic);
            take_snapshot_sample(sample, end == ends.end() ? sample.seq : end->second);
        }
    }
    std::for_each(answer.gone.begin(), answer.gone.end(), [this](const Gap& gone) { take_snapshot_gap(gone); });
    if (!answer.is_end && !answer.after.empty()) {
        after_ = answer.after;
        return;
    }
    after_.clear();
    if (++prefix_at_ < options_.prefixes.size()) {
        return;
    }
    prefix_at_ = 0;
    is_snapshot_wanted_ = false;
    has_snapshot_ = true;
    if (last_look_ == LastLook::wanted) {
        last_look_ = LastLook::done;
        ask_after_ = now + options_.patience.on_its_way;
    }
    if (baseline_ == Baseline::pending && !is_since_wanted_) {
        begin_lines(Baseline::known);
    }
}

/// `last_seq`: up to there the topic has come, be it that the last ones were lost.
void Splice::take_snapshot_sample(const Sample& sample, std::uint64_t last_seq) {
    Topic* const topic = topic_of(sample.topic);
    SeqLine* const line = topic == nullptr ? nullptr : line_of(*topic, epoch_);
    if (line == nullptr) {
        return;
    }
    if (line->is_started() || has_snapshot_) {
        Sample replayed = sample;
        replayed.replayed = true;
        take(replayed);
        return;
    }
    if (sample.unit != topic->unit) {
        topic->unit = sample.unit;
    }
    if (options_.last && !is_since_wanted_) {
        line->start(sample.seq);
        take(sample);
        return;
    }
    begin_line(*topic, *line, last_seq);
}

/// What had come before the first snapshot is not missed.
void Splice::begin_line(Topic& topic, SeqLine& line, std::uint64_t last_seq) {
    line.know(last_seq);
    if (is_since_wanted_) {
        line.baseline = last_seq;
    } else {
        line.start(std::min(line.first_known(), last_seq + 1));
    }
    after_change(topic);
}

/// Behind the last sample, or in place of all.
void Splice::take_snapshot_gap(const Gap& gone) {
    Topic* const topic = topic_of(gone.topic);
    SeqLine* const line = topic == nullptr ? nullptr : line_of(*topic, epoch_);
    if (line == nullptr) {
        return;
    }
    if (!line->is_started() && !has_snapshot_) {
        begin_line(*topic, *line, gone.last_seq);
        return;
    }
    line->add_gone(gone.first_seq, gone.last_seq, gone.reason);
    after_change(*topic);
}

void Splice::take_since(const Answer& answer) {
    for (const Sample& sample : answer.samples) {
        counts_.since_first_utc_ns =
            std::min(counts_.since_first_utc_ns.value_or(sample.time_utc_ns), sample.time_utc_ns);
        Topic* const topic = sample.epoch == epoch_ ? topic_of(sample.topic) : nullptr;
        SeqLine* const line = topic == nullptr ? nullptr : line_of(*topic, sample.epoch);
        if (line != nullptr) {
            if (!line->is_started()) {
                line->start(std::min(sample.seq, line->baseline + 1));
            }
            take(sample);
        }
    }
    since_position_ = answer.position;
    if (!answer.is_end && answer.position) {
        return;
    }
    since_position_.reset();
    if (++since_prefix_at_ >= options_.prefixes.size()) {
        is_since_wanted_ = false;
        begin_lines(Baseline::known);
    }
}

void Splice::take_holes(const Answer& answer, const Request& request, Time now) {
    for (const Sample& sample : answer.samples) {
        Sample replayed = sample;
        replayed.replayed = true;
        take(replayed);
    }
    for (const Gap& gone : answer.gone) {
        const auto found = topics_.find(gone.topic);
        SeqLine* const line = found == topics_.end() ? nullptr : line_of(found->second, request.epoch);
        if (line != nullptr) {
            line->know(line->is_ending() ? gone.last_seq : 0);
            line->lose_as_told(gone.first_seq, gone.last_seq, gone.reason);
            after_change(found->second);
        }
    }
    if (request.epoch != epoch_) {
        end_lines(answer, request, Reason::not_held);
    }
    const bool has_more = !answer.left.empty();
    hole_position_ = has_more && request.epoch == epoch_ ? answer.position : std::nullopt;
    if (!answer.samples.empty() || !answer.gone.empty() || has_more || request.epoch != epoch_) {
        progress_at_ = now;
        empty_answers_ = 0;
    } else {
        ask_after_ = now + std::min(pause_first * (1 << std::min(empty_answers_++, 10U)), pause_max);
    }
}

/// Of a former epoch the answer says all there is to say; what is left is asked for again.
void Splice::end_lines(const Answer& answer, const Request& request, Reason reason) {
    for (const TopicHole& hole : request.holes) {
        const bool is_left = std::find(answer.left.begin(), answer.left.end(), hole.topic) != answer.left.end();
        const auto found = topics_.find(hole.topic);
        SeqLine* const line = is_left || found == topics_.end() ? nullptr : line_of(found->second, request.epoch);
        if (line == nullptr) {
            continue;
        }
        line->give_up(hole.first_seq, hole.last_seq == 0 ? seq_max : hole.last_seq, reason);
        if (hole.last_seq == 0) {
            line->end();
        }
        if (reason == Reason::unknown_epoch) {
            tell_end_unknown(request.epoch);
            line->end();
            line->give_up(reason);
        }
        after_change(found->second);
    }
}

}  // namespace telegate::tail
