#include "topic_lines.hpp"

#include <algorithm>
#include <utility>

namespace telegate::tail {

TopicLines::Topic* TopicLines::topic_of(std::string_view name) {
    auto found = topics_.find(name);
    if (found == topics_.end()) {
        if (topics_.size() >= splice_limits::topics_max) {
            ++counts_->topics_refused;
            return nullptr;
        }
        found = topics_.emplace(name, Topic{}).first;
        found->second.name = found->first;
        found->second.index = static_cast<std::uint32_t>(topics_.size() - 1);
    }
    return &found->second;
}

TopicLines::Topic* TopicLines::topic_of(const Sample& sample) {
    Topic* const topic = topic_of(sample.topic);
    if (topic != nullptr && !sample.unit.empty() && sample.unit != topic->unit) {
        topic->unit = sample.unit;
    }
    return topic;
}

TopicLines::Topic* TopicLines::find(std::string_view name) {
    const auto found = topics_.find(name);
    return found == topics_.end() ? nullptr : &found->second;
}

SeqLine* TopicLines::find_line(Topic& topic, std::int64_t epoch) {
    const auto found = std::find_if(topic.lines.begin(), topic.lines.end(),
                                    [epoch](const SeqLine& line) { return line.epoch() == epoch; });
    return found == topic.lines.end() ? nullptr : &*found;
}

SeqLine* TopicLines::line_of(Topic& topic, std::int64_t epoch) {
    SeqLine* const found = find_line(topic, epoch);
    if (found != nullptr || epoch != epoch_) {
        return found;
    }
    SeqLine& line = topic.lines.emplace_back(epoch, kept_);
    if (!waits_for_past_ && (epoch != first_epoch_ || baseline_ == Baseline::known)) {
        line.start(1);
    }
    return &line;
}

bool TopicLines::add_earlier_line(Topic& topic, std::int64_t epoch) {
    if (find_line(topic, epoch) != nullptr) {
        return false;
    }
    const auto at = std::find_if(topic.lines.begin(), topic.lines.end(),
                                 [&](const SeqLine& line) { return line.epoch() > epoch || line.epoch() == epoch_; });
    topic.lines.emplace(at, epoch, kept_)->begin_end();
    return true;
}

void TopicLines::take(const Sample& sample) {
    change(topic_of(sample), sample.epoch, [&sample](SeqLine& line) { line.insert(sample); });
}

template <class Change>
void TopicLines::change_all(const Change& change) {
    for (auto& [name, topic] : topics_) {
        std::for_each(topic.lines.begin(), topic.lines.end(), change);
        after_change(topic);
    }
}

/// Outputs what is next in order and updates waiting().
void TopicLines::after_change(Topic& topic) {
    Sample head;
    head.topic = topic.name;
    head.topic_index = topic.index;
    head.unit = topic.unit;
    while (!topic.lines.empty()) {
        SeqLine& line = topic.lines.front();
        if (!line.is_started() && baseline_ == Baseline::unknown && line.epoch() == first_epoch_) {
            line.start_at_first_known();
        }
        if (!recover_) {
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

void TopicLines::keep_within_limits(Topic& topic) {
    if (kept_.samples > kept_samples_max_ || kept_.text_bytes > splice_limits::kept_text_bytes_max ||
        kept_.ranges > splice_limits::kept_ranges_max) {
        ++counts_->buffers_dropped;
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

bool TopicLines::is_former(std::int64_t epoch) const {
    return std::find(former_.begin(), former_.end(), epoch) != former_.end();
}

void TopicLines::begin_epoch(std::int64_t epoch) {
    const std::int64_t before = std::exchange(epoch_, epoch);
    if (before == 0) {
        first_epoch_ = epoch;
        return;
    }
    former_.push_back(before);
    if (former_.size() > splice_limits::epochs_max) {
        former_.pop_front();
    }
    if (baseline_ == Baseline::pending) {
        begin_lines(Baseline::unknown);
    }
    waits_for_past_ = recover_;
    change_all([this, before](SeqLine& line) {
        if (line.epoch() != before) {
            return;
        }
        line.begin_end();
        if (!recover_) {
            tell_end_unknown(before);
            line.end();
        }
    });
}

void TopicLines::take_past(std::string_view name, std::int64_t epoch, std::uint64_t last_seq, bool is_end_known) {
    if (last_seq == 0 || (epoch == first_epoch_ && baseline_ != Baseline::known)) {
        return;  // with an unknown baseline, its samples may be older than the start
    }
    Topic* const topic = topic_of(name);
    const bool is_new = topic != nullptr && add_earlier_line(*topic, epoch);
    change(topic, epoch, [&](SeqLine& line) {
        line.know(last_seq);
        if (is_new) {
            line.start(1);
        }
        if (is_new && is_end_known) {
            line.end();
        }
    });
}

void TopicLines::end_past() {
    if (!std::exchange(waits_for_past_, false)) {
        return;
    }
    change_all([this](SeqLine& line) {
        if (!line.is_started() && line.epoch() != first_epoch_) {
            line.start(1);
        }
    });
}

void TopicLines::tell_end_unknown(std::int64_t epoch) {
    if (end_unknown_reported_ != epoch) {
        end_unknown_reported_ = epoch;
        output_->end_unknown(epoch);
    }
}

void TopicLines::begin_lines(Baseline baseline) {
    baseline_ = baseline;
    change_all([baseline](SeqLine& line) {
        if (!line.is_started() && (line.baseline != 0 || baseline == Baseline::known)) {
            line.start(line.baseline + 1);
        }
    });
}

void TopicLines::give_up(Reason reason) {
    if (baseline_ == Baseline::pending) {
        begin_lines(Baseline::unknown);
    }
    change_all([this, reason](SeqLine& line) {
        line.give_up(reason);
        if (line.is_ending()) {
            tell_end_unknown(line.epoch());
            line.end();
        }
    });
}

bool TopicLines::is_missing() {
    std::erase_if(waiting_, [](Topic* topic) {
        topic->is_waiting =
            std::any_of(topic->lines.begin(), topic->lines.end(), [](const SeqLine& line) { return line.is_open(); });
        return !topic->is_waiting;
    });
    return !waiting_.empty();
}

}  // namespace telegate::tail
