#include "splice.hpp"

#include <algorithm>
#include <utility>

namespace telegate::tail {

Splice::Splice(SpliceOptions options, SpliceOutput& output) : options_(std::move(options)), output_(&output) {
    if (options_.recover) {
        want_snapshot();
        is_since_wanted_ = !options_.since.empty();
    } else {
        baseline_ = Baseline::unknown;
    }
}

Splice::Topic* Splice::topic_of(std::string_view name) {
    auto found = topics_.find(name);
    if (found == topics_.end()) {
        if (topics_.size() >= splice_limits::topics_max) {
            ++counts_.topics_refused;
            return nullptr;
        }
        found = topics_.emplace(name, Topic{}).first;
        found->second.name = found->first;
        found->second.index = static_cast<std::uint32_t>(topics_.size() - 1);
    }
    return &found->second;
}

/// Null when this epoch of the topic is closed.
SeqLine* Splice::line_of(Topic& topic, std::int64_t epoch) {
    const auto found = std::find_if(topic.lines.begin(), topic.lines.end(),
                                    [epoch](const SeqLine& line) { return line.epoch() == epoch; });
    if (found != topic.lines.end()) {
        return &*found;
    }
    if (epoch != epoch_) {
        return nullptr;
    }
    SeqLine& line = topic.lines.emplace_back(epoch, kept_);
    if (!is_first_epoch_ || baseline_ == Baseline::known) {
        line.start(1);
    }
    return &line;
}

SeqLine* Splice::live_line(std::string_view topic, std::int64_t epoch, Topic*& owner) {
    see_live_epoch(epoch);
    owner = topic_of(topic);
    SeqLine* const line = owner == nullptr ? nullptr : line_of(*owner, epoch);
    counts_.duplicates += owner != nullptr && line == nullptr ? 1 : 0;
    return line;
}

void Splice::take_live(const Sample& sample) {
    see_live_epoch(sample.epoch);
    take(sample);
}

void Splice::take(const Sample& sample) {
    Topic* const topic = topic_of(sample.topic);
    if (topic == nullptr) {
        return;
    }
    if (!sample.unit.empty() && sample.unit != topic->unit) {
        topic->unit = sample.unit;
    }
    SeqLine* const line = line_of(*topic, sample.epoch);
    if (line == nullptr || !line->insert(sample)) {
        ++counts_.duplicates;
        return;
    }
    after_change(*topic);
}

void Splice::gap(const Gap& gap) {
    Topic* topic = nullptr;
    SeqLine* const line = live_line(gap.topic, gap.epoch, topic);
    if (line == nullptr) {
        return;
    }
    const bool is_for_us_only = gap.reason == Reason::slow || gap.reason == Reason::expired;
    if (is_for_us_only && options_.recover) {
        line->add_told(gap.first_seq, gap.last_seq, gap.reason);
    } else {
        line->add_gone(gap.first_seq, gap.last_seq, gap.reason);
    }
    after_change(*topic);
}

void Splice::beat(const Beat& beat) {
    if (beat.seq == 0) {
        return;  // its channel has given nothing yet
    }
    Topic* topic = nullptr;
    SeqLine* const line = live_line(beat.topic, beat.epoch, topic);
    if (line != nullptr) {
        line->know(beat.seq);
        after_change(*topic);
    }
}

/// Gives out what can be, and notes whether something is missing.
void Splice::after_change(Topic& topic) {
    Sample head;
    head.topic = topic.name;
    head.topic_index = topic.index;
    head.unit = topic.unit;
    while (!topic.lines.empty()) {
        SeqLine& line = topic.lines.front();
        if (!line.is_started() && baseline_ == Baseline::unknown) {
            line.start_at_first_known();
        }
        if (!options_.recover) {
            line.give_up(Reason::not_asked);
        }
        line.drain(head, *output_);
        if (!line.is_done()) {
            break;
        }
        topic.lines.erase(topic.lines.begin());
    }
    keep_within_limits(topic);
    const auto is_open = [](const SeqLine& line) {
        return line.is_open();
    };
    if (!topic.is_waiting && std::any_of(topic.lines.begin(), topic.lines.end(), is_open)) {
        topic.is_waiting = true;
        waiting_.push_back(&topic);
    }
}

void Splice::keep_within_limits(Topic& topic) {
    if (kept_.samples > options_.kept_samples_max || kept_.text_bytes > splice_limits::kept_text_bytes_max ||
        kept_.ranges > splice_limits::kept_ranges_max) {
        ++counts_.buffers_dropped;
        for (SeqLine& line : topic.lines) {
            line.drop_ahead();
        }
    }
    if (topic.lines.size() > splice_limits::lines_per_topic_max) {
        SeqLine& oldest = topic.lines.front();
        tell_end_unknown(oldest.epoch());
        oldest.give_up(Reason::no_answer);
        oldest.end();
        after_change(topic);
    }
}

bool Splice::is_former(std::int64_t epoch) const {
    return std::find(former_.begin(), former_.end(), epoch) != former_.end();
}

void Splice::see_live_epoch(std::int64_t epoch) {
    if (epoch == epoch_) {
        is_live_known_ = true;
    } else if (!is_former(epoch)) {  // what was on its way when the gateway was restarted is
        is_live_known_ = true;
        begin_epoch(epoch);
    }
}

void Splice::begin_epoch(std::int64_t epoch) {
    const std::int64_t before = std::exchange(epoch_, epoch);
    if (before == 0) {
        return;
    }
    former_.push_back(before);
    if (former_.size() > splice_limits::epochs_max) {
        former_.pop_front();
    }
    if (baseline_ == Baseline::pending) {
        counts_.since_failed = counts_.since_failed || !options_.since.empty();
        is_since_wanted_ = false;
        begin_lines(Baseline::unknown);
    }
    is_first_epoch_ = false;
    hole_position_.reset();
    for (auto& [name, topic] : topics_) {
        if (topic.lines.empty() || topic.lines.back().epoch() != before) {
            continue;
        }
        topic.lines.back().begin_end();
        if (!options_.recover) {
            tell_end_unknown(before);
            topic.lines.back().end();
        }
        after_change(topic);
    }
    if (options_.recover) {
        want_snapshot();
    }
}

void Splice::tell_end_unknown(std::int64_t epoch) {
    if (end_unknown_told_ != epoch) {
        end_unknown_told_ = epoch;
        output_->end_unknown(epoch);
    }
}

/// From here on it is known where the lines of the first epoch begin.
void Splice::begin_lines(Baseline baseline) {
    baseline_ = baseline;
    counts_.baseline_failed = counts_.baseline_failed || baseline == Baseline::unknown;
    for (auto& [name, topic] : topics_) {
        for (SeqLine& line : topic.lines) {
            if (!line.is_started() && (line.baseline != 0 || baseline == Baseline::known)) {
                line.start(line.baseline + 1);
            }
        }
        after_change(topic);
    }
}

void Splice::give_up(Reason reason) {
    ++counts_.gave_up;
    if (baseline_ == Baseline::pending) {
        counts_.since_failed = counts_.since_failed || is_since_wanted_;
        is_since_wanted_ = false;
        begin_lines(Baseline::unknown);
    }
    is_snapshot_wanted_ = false;
    for (auto& [name, topic] : topics_) {
        for (SeqLine& line : topic.lines) {
            line.give_up(reason);
            if (line.is_ending()) {
                tell_end_unknown(line.epoch());
                line.end();
            }
        }
        after_change(topic);
    }
}

void Splice::finish() {
    give_up(Reason::ended);
}

}  // namespace telegate::tail
