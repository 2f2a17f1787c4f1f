#include "merger.hpp"

#include <algorithm>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;
using Kind = Request::Kind;

/// Pause after a reply from another gateway or another epoch.
constexpr milliseconds pause_foreign{200};
/// Pause after a reply without samples or gaps.
constexpr milliseconds pause_empty{100};
constexpr milliseconds pause_busy_min{10};
constexpr milliseconds pause_busy_max{10'000};

constexpr std::size_t holes_per_request_max = 1'000;
constexpr std::size_t request_bytes_max = 60'000;

/// Returns an upper bound for the size of a hole in a request.
std::size_t bytes_max(const TopicHole& hole) noexcept {
    constexpr std::size_t around = 90;  // keys and two numbers
    constexpr std::size_t escape_bytes_max = 6;
    return around + escape_bytes_max * hole.topic.size();
}

Sample as_replayed(Sample sample) {
    sample.replayed = true;
    return sample;
}

/// Calls `take` with each open line of the topics until it returns false.
template <class Topics, class Take>
void each_open_line(const Topics& topics, const Take& take) {
    for (const auto* const topic : topics) {
        for (const SeqLine& line : topic->lines) {
            if (line.is_open() && !take(*topic, line)) {
                return;
            }
        }
    }
}

}  // namespace

Merger::Merger(MergerOptions options, MergerOutput& output)
    : options_(std::move(options)),
      output_(&output),
      requests_(options_.recover ? options_.prefixes : std::vector<std::string>(), options_.since),
      begin_(options_.recover ? Begin::pending : Begin::unknown) {
    requests_.want(Kind::snapshot);
}

void Merger::gap(const Gap& gap) {
    accept_epoch(gap.epoch, true);
    const bool is_for_us_only = gap.reason == Reason::slow || gap.reason == Reason::expired;
    const State state = is_for_us_only && options_.recover ? State::reported : State::gone;
    change(topic_of(gap.topic), gap.epoch,
           [&](SeqLine& line) { line.mark(gap.first_seq, gap.last_seq, state, gap.reason); });
}

void Merger::beat(const Beat& beat) {
    if (beat.seq != 0) {  // seq 0: the channel has published nothing yet
        accept_epoch(beat.epoch, true);
        change(topic_of(beat.topic), beat.epoch, [&](SeqLine& line) { line.know(beat.seq); });
    }
}

void Merger::add_live(const Sample& sample) {
    accept_epoch(sample.epoch, true);
    add(sample);
}

void Merger::add(const Sample& sample) {
    change(topic_of(sample.topic, sample.unit), sample.epoch, [&](SeqLine& line) { line.insert(sample); });
}

void Merger::live_up(Time now) {
    epochs_.is_live_known = false;
    requests_.live_up(now);
    requests_.want(Kind::snapshot);
}

void Merger::live_down() {
    epochs_.is_live_known = false;
    requests_.live_down();
}

void Merger::services_up() {
    requests_.services_up();
    if (!requests_.wants(Kind::snapshot)) {
        requests_.want(Kind::snapshot);
    }
}

void Merger::request_last_snapshot() {
    last_snapshot_ = LastSnapshot::wanted;
    requests_.cancel_check();
    requests_.hold_until(Time::min());
    requests_.want(Kind::snapshot);
}

// Epochs.

/// Starts the epoch of a live message or reply if it is new. Returns false for a live message that was in flight when
/// the gateway restarted, and for a reply that comes from another gateway than the live messages.
bool Merger::accept_epoch(std::int64_t epoch, bool is_live) {
    const bool is_former = std::find(epochs_.former.begin(), epochs_.former.end(), epoch) != epochs_.former.end();
    const bool is_new = epoch != epochs_.now;
    if (is_former || (is_new && !is_live && epochs_.is_live_known)) {
        return false;
    }
    epochs_.is_live_known = epochs_.is_live_known || is_live;
    if (is_new) {
        begin_epoch(epoch);
    }
    return true;
}

/// Starts an epoch. Lines of the previous one, if any, are marked as ending, so that their last seq is requested; the
/// new epoch is then output after end_past().
void Merger::begin_epoch(std::int64_t epoch) {
    const std::int64_t before = std::exchange(epochs_.now, epoch);
    hole_position_.reset();
    if (before == 0) {
        epochs_.first = epoch;
        return;
    }
    epochs_.former.push_back(before);
    if (epochs_.former.size() > Requests::epochs_max) {
        epochs_.former.erase(epochs_.former.begin());
    }
    fail_begin();
    epochs_.waits_for_past = options_.recover;
    requests_.want_past(before);
    requests_.want(Kind::snapshot);
    change_all([this, before](SeqLine& line) {
        if (line.epoch() != before) {
            return;
        }
        line.begin_end();
        if (!options_.recover) {
            report_end_unknown(before);
            line.end();
        }
    });
}

void Merger::end_past() {
    requests_.drop(Kind::past);
    if (std::exchange(epochs_.waits_for_past, false)) {
        change_all([this](SeqLine& line) {
            if (!line.is_started() && line.epoch() != epochs_.first) {
                line.start(1);
            }
        });
    }
}

void Merger::report_end_unknown(std::int64_t epoch) {
    if (std::exchange(epochs_.end_unknown, epoch) != epoch) {
        output_->end_unknown(epoch);
    }
}

// Lines.

/// Returns null if topics_max is reached. Takes over the unit if there is one.
Merger::Topic* Merger::topic_of(std::string_view name, std::string_view unit) {
    auto found = topics_.find(name);
    if (found == topics_.end()) {
        if (topics_.size() >= merger_limits::topics_max) {
            ++counts_.topics_refused;
            return nullptr;
        }
        found = topics_.emplace(name, Topic{}).first;
        found->second.name = found->first;
        found->second.index = static_cast<std::uint32_t>(topics_.size() - 1);
    }
    if (!unit.empty() && unit != found->second.unit) {
        found->second.unit = unit;
    }
    return &found->second;
}

/// Returns null if this epoch of the topic is closed, or for a null topic.
SeqLine* Merger::line_of(Topic* topic, std::int64_t epoch) {
    if (topic == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(topic->lines.begin(), topic->lines.end(),
                                    [epoch](const SeqLine& line) { return line.epoch() == epoch; });
    if (found != topic->lines.end() || epoch != epochs_.now) {
        return found == topic->lines.end() ? nullptr : &*found;
    }
    SeqLine& line = topic->lines.emplace_back(epoch, kept_);
    if (!epochs_.waits_for_past && (epoch != epochs_.first || begin_ == Begin::known)) {
        line.start(1);
    }
    return &line;
}

/// Adds a line for an earlier epoch, unless there is one. Returns whether it was added.
bool Merger::add_earlier_line(Topic* topic, std::int64_t epoch) {
    if (topic == nullptr || line_of(topic, epoch) != nullptr) {
        return false;
    }
    const auto at = std::find_if(topic->lines.begin(), topic->lines.end(), [&](const SeqLine& line) {
        return line.epoch() > epoch || line.epoch() == epochs_.now;
    });
    topic->lines.emplace(at, epoch, kept_)->begin_end();
    return true;
}

/// Calls `change` with the line of this epoch, then outputs what is next in order. Does nothing if there is no line.
template <class Change>
void Merger::change(Topic* topic, std::int64_t epoch, const Change& change) {
    if (SeqLine* const line = line_of(topic, epoch)) {
        change(*line);
        after_change(*topic);
    }
}

template <class Change>
void Merger::change_all(const Change& change) {
    for (auto& [name, topic] : topics_) {
        std::for_each(topic.lines.begin(), topic.lines.end(), change);
        after_change(topic);
    }
}

/// Outputs what is next in order and updates waiting_.
void Merger::after_change(Topic& topic) {
    Sample head;
    head.topic = topic.name;
    head.topic_index = topic.index;
    head.unit = topic.unit;
    while (!topic.lines.empty()) {
        SeqLine& line = topic.lines.front();
        if (!line.is_started() && begin_ == Begin::unknown && line.epoch() == epochs_.first) {
            line.start(line.first_known());
        }
        if (!options_.recover) {
            line.abandon(Reason::not_asked);
        }
        line.drain(head, *output_);
        if (!line.is_done()) {
            break;
        }
        topic.lines.erase(topic.lines.begin());
    }
    keep_within_limits(topic);
    if (!topic.is_waiting &&
        std::any_of(topic.lines.begin(), topic.lines.end(), [](const SeqLine& line) { return line.is_open(); })) {
        topic.is_waiting = true;
        waiting_.push_back(&topic);
    }
}

void Merger::keep_within_limits(Topic& topic) {
    if (kept_.samples > options_.kept_samples_max || kept_.text_bytes > merger_limits::kept_text_bytes_max ||
        kept_.ranges > merger_limits::kept_ranges_max) {
        for (SeqLine& line : topic.lines) {
            line.drop_ahead();
        }
    }
    if (topic.lines.size() > merger_limits::lines_per_topic_max) {
        SeqLine& oldest = topic.lines.front();
        report_end_unknown(oldest.epoch());
        oldest.abandon(Reason::no_answer);
        oldest.end();
        after_change(topic);
    }
}

void Merger::begin_lines(Begin begin) {
    begin_ = begin;
    change_all([begin](SeqLine& line) {
        if (!line.is_started() && (line.baseline != 0 || begin == Begin::known)) {
            line.start(std::min(line.baseline + 1, line.first_known()));
        }
    });
}

/// Stops waiting for the first snapshot and the history for --since.
void Merger::fail_begin() {
    if (!has_begun()) {
        counts_.since_failed = requests_.wants(Kind::since);
        counts_.baseline_failed = true;
        requests_.drop(Kind::since);
        begin_lines(Begin::unknown);
    }
}

/// Marks all missing samples as lost.
void Merger::abandon(Reason reason) {
    requests_.drop(Kind::snapshot);
    fail_begin();
    end_past();
    change_all([this, reason](SeqLine& line) {
        line.abandon(reason);
        if (line.is_ending()) {
            report_end_unknown(line.epoch());
            line.end();
        }
    });
}

// Requests and replies.

bool Merger::has_holes() {
    std::erase_if(waiting_, [](Topic* topic) {
        topic->is_waiting =
            std::any_of(topic->lines.begin(), topic->lines.end(), [](const SeqLine& line) { return line.is_open(); });
        return !topic->is_waiting;
    });
    return !waiting_.empty();
}

std::optional<Request> Merger::turn(Time now) {
    if (requests_.is_check_due(now) && !requests_.wants(Kind::snapshot)) {
        requests_.want(Kind::snapshot);
    }
    if (requests_.is_hopeless(is_missing(), now)) {
        abandon(Reason::no_answer);
    }
    std::optional<Request> request = requests_.may_send(now) ? next_request() : std::nullopt;
    return request ? std::optional(requests_.begin(std::move(*request), now)) : std::nullopt;
}

/// Requests holes of earlier epochs before the history of the next epoch.
std::optional<Request> Merger::next_request() {
    std::optional<Request> page = requests_.page();
    if (page && page->kind != Kind::since) {
        return page;
    }
    std::optional<Request> holes = hole_request();
    if (!page || (page->is_whole_epoch && page->position == 0U && holes && holes->epoch != epochs_.now)) {
        return holes;
    }
    page->epoch = page->epoch != 0 ? page->epoch : epochs_.now;
    return page;
}

/// Requests holes of an earlier epoch if there are any; a request covers one epoch only.
std::optional<Request> Merger::hole_request() {
    Request request;
    request.kind = Kind::holes;
    each_open_line(waiting_, [&](const Topic& /*topic*/, const SeqLine& line) {
        request.epoch = line.epoch();
        return request.epoch == epochs_.now;
    });
    std::size_t bytes = 0;
    each_open_line(waiting_, [&](const Topic& topic, const SeqLine& line) {
        return line.epoch() != request.epoch || line.each_hole([&](std::uint64_t first, std::uint64_t last) {
            TopicHole hole{std::string(topic.name), first, last};
            bytes += bytes_max(hole);
            const bool fits = request.holes.size() < holes_per_request_max && bytes <= request_bytes_max;
            if (fits) {
                request.holes.push_back(std::move(hole));
            }
            return fits;
        });
    });
    request.position = request.epoch == epochs_.now ? hole_position_ : std::nullopt;
    return request.holes.empty() ? std::nullopt : std::optional(std::move(request));
}

void Merger::answer(const Answer& answer, Time now) {
    const std::optional<Request> request = requests_.take_answered(answer.id);
    if (!request) {
        ++counts_.answers_ignored;
        return;
    }
    const bool is_new_epoch = answer.epoch != epochs_.now && epochs_.now != 0;
    if (!accept_epoch(answer.epoch, false)) {
        ++counts_.answers_ignored;
        requests_.hold_until(now + pause_foreign);
        return;
    }
    if (answer.error) {
        handle_error(*answer.error, *request, now);
        return;
    }
    if (request->kind == Kind::holes) {
        add_holes(*request, answer, now);
        return;
    }
    requests_.record_progress(now);
    if (is_new_epoch && request->kind != Kind::past) {
        return;  // restarts with the first page
    }
    switch (request->kind) {
        case Kind::past: return add_past(*request, answer);
        case Kind::snapshot: return add_snapshot(*request, answer, now);
        case Kind::since: return add_since(*request, answer);
        case Kind::holes: break;
    }
}

void Merger::handle_error(const AnswerError& error, const Request& request, Time now) {
    if (error.code == "busy") {
        requests_.record_progress(now);
        requests_.hold_until(now + std::clamp(error.retry_after, pause_busy_min, pause_busy_max));
    } else if (request.kind == Kind::past) {  // also of an older gateway, which does not know this request
        if (error.code == "unknown_epoch") {
            report_end_unknown(request.epoch);
        }
        end_past();
    } else if (error.code == "unknown_epoch" && request.epoch != epochs_.now && request.kind == Kind::holes) {
        end_holes(request, {}, Reason::unknown_epoch);
    } else if (error.code == "unknown_epoch" && request.epoch != epochs_.now && request.kind == Kind::since) {
        requests_.want(Kind::since);  // the log no longer has the epoch
    } else if (error.code == "unknown_epoch") {
        requests_.hold_until(now + pause_foreign);
    } else if (!requests_.leave_out(request, error.pointer)) {
        counts_.refusal = error.code + ": " + error.detail;
        abandon(Reason::no_answer);
    }
}

void Merger::add_snapshot(const Request& request, const Answer& answer, Time now) {
    std::unordered_map<std::string_view, std::uint64_t> ends;  // topics with losses after their last sample
    for (const Gap& gone : answer.gone) {
        ends[gone.topic] = gone.last_seq;
    }
    for (const Sample& sample : answer.samples) {
        if (sample.epoch != epochs_.now) {
            continue;
        }
        const auto end = ends.find(sample.topic);
        change(topic_of(sample.topic, sample.unit), sample.epoch, [&](SeqLine& line) {
            if (line.is_started() || has_snapshot_) {
                line.insert(as_replayed(sample));
            } else if (options_.last && !requests_.wants(Kind::since)) {
                line.start(sample.seq);
                line.insert(sample);
            } else {
                begin_line(line, end == ends.end() ? sample.seq : end->second);
            }
        });
    }
    for (const Gap& gone : answer.gone) {
        change(topic_of(gone.topic), epochs_.now, [&](SeqLine& line) {
            if (line.is_started() || has_snapshot_) {
                line.mark(gone.first_seq, gone.last_seq, State::gone, gone.reason);
            } else {
                begin_line(line, gone.last_seq);
            }
        });
    }
    if (!requests_.end_page(request, answer)) {
        return;
    }
    has_snapshot_ = true;
    if (last_snapshot_ == LastSnapshot::wanted) {
        last_snapshot_ = LastSnapshot::done;
        requests_.hold_until(now + on_its_way);
    }
    if (!has_begun() && !requests_.wants(Kind::since)) {
        begin_lines(Begin::known);
    }
}

/// Samples before the first snapshot are not missing. `last_seq` is the last one of the topic.
void Merger::begin_line(SeqLine& line, std::uint64_t last_seq) const {
    line.know(last_seq);
    if (requests_.wants(Kind::since)) {
        line.baseline = last_seq;
    } else {
        line.start(line.first_known());
    }
}

void Merger::add_past(const Request& request, const Answer& answer) {
    // With an unknown start, samples of the first epoch may be older than it.
    const bool is_after_start = request.epoch != epochs_.first || begin_ == Begin::known;
    for (const PastTopic& past : answer.past) {
        if (past.last_seq == 0 || !is_after_start) {
            continue;
        }
        Topic* const topic = topic_of(past.topic);
        const bool is_new = add_earlier_line(topic, request.epoch);
        change(topic, request.epoch, [&](SeqLine& line) {
            line.know(past.last_seq);
            if (is_new) {
                line.start(1);
            }
            if (is_new && answer.is_end_known) {
                line.end();
            }
        });
    }
    if (!answer.is_end_known) {
        report_end_unknown(request.epoch);
    }
    if (requests_.end_page(request, answer)) {
        end_past();
    }
}

void Merger::add_since(const Request& request, const Answer& answer) {
    for (const Sample& sample : answer.samples) {
        counts_.since_first_utc_ns =
            std::min(counts_.since_first_utc_ns.value_or(sample.time_utc_ns), sample.time_utc_ns);
        const bool is_earlier = sample.epoch == answer.samples_epoch && sample.epoch < epochs_.now;
        if (!is_earlier && sample.epoch != epochs_.now) {
            continue;
        }
        Topic* const topic = topic_of(sample.topic, sample.unit);
        if (is_earlier) {
            add_earlier_line(topic, sample.epoch);
        }
        change(topic, sample.epoch, [&](SeqLine& line) {
            if (!line.is_started()) {
                const std::uint64_t end = is_earlier ? sample.seq : std::min(line.baseline + 1, line.first_known());
                line.start(request.is_whole_epoch ? 1 : std::min(sample.seq, end));
            }
            line.insert(sample);
        });
    }
    if (answer.is_end && !answer.is_end_known) {
        report_end_unknown(answer.samples_epoch);
    }
    if (requests_.end_page(request, answer)) {
        begin_lines(Begin::known);
    }
}

void Merger::add_holes(const Request& request, const Answer& answer, Time now) {
    const bool is_present = request.epoch == epochs_.now;
    for (const Sample& sample : answer.samples) {
        add(as_replayed(sample));
    }
    for (const Gap& gone : answer.gone) {
        change(topic_of(gone.topic), request.epoch, [&](SeqLine& line) {
            const std::uint64_t last = line.is_ending() ? gone.last_seq : std::min(gone.last_seq, line.last_known());
            line.mark(gone.first_seq, last, State::gone, gone.reason);
        });
    }
    if (!is_present) {
        if (!answer.is_end_known) {
            report_end_unknown(request.epoch);
        }
        end_holes(request, answer, Reason::not_retained);
    }
    const bool has_more = !answer.left.empty();
    hole_position_ = has_more && is_present ? answer.position : std::nullopt;
    if (!answer.samples.empty() || !answer.gone.empty() || has_more || !is_present) {
        requests_.record_progress(now);
    } else {
        requests_.hold_until(now + pause_empty);
    }
}

/// The reply about an earlier epoch is final; only topics in `left` are requested again.
void Merger::end_holes(const Request& request, const Answer& answer, Reason reason) {
    for (const TopicHole& hole : request.holes) {
        const bool is_left = std::find(answer.left.begin(), answer.left.end(), hole.topic) != answer.left.end();
        change(is_left ? nullptr : topic_of(hole.topic), request.epoch, [&](SeqLine& line) {
            line.abandon(reason, hole.first_seq, hole.last_seq == 0 ? seq_max : hole.last_seq);
            if (reason == Reason::unknown_epoch) {
                report_end_unknown(request.epoch);
                line.abandon(reason);
            }
            if (reason == Reason::unknown_epoch || hole.last_seq == 0) {
                line.end();
            }
        });
    }
}

}  // namespace telegate::tail
