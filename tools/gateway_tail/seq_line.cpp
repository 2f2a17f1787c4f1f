#include "seq_line.hpp"

#include "topic_lines.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace telegate::tail {

void SeqRanges::add(std::uint64_t first, std::uint64_t last, Reason reason) {
    for (first = covered_from(first) + 1; first <= last; first = covered_from(first) + 1) {
        const std::uint64_t end = std::min(last, next_covered(first) - 1);
        const auto after = ranges_.upper_bound(first);
        Range* const before = after == ranges_.begin() ? nullptr : &std::prev(after)->second;
        if (before != nullptr && before->last + 1 == first && before->reason == reason) {
            before->last = end;
        } else {
            ranges_.emplace_hint(after, first, Range{end, reason});
            ++*total_;
        }
    }
}

const SeqRanges::Range* SeqRanges::at(std::uint64_t seq) const {
    const auto after = ranges_.upper_bound(seq);
    if (after == ranges_.begin()) {
        return nullptr;
    }
    const Range& range = std::prev(after)->second;
    return range.last >= seq ? &range : nullptr;
}

std::uint64_t SeqRanges::covered_from(std::uint64_t seq) const {
    while (const Range* const range = at(seq)) {
        seq = range->last + 1;
    }
    return seq - 1;
}

std::uint64_t SeqRanges::next_covered(std::uint64_t seq) const {
    if (at(seq) != nullptr) {
        return seq;
    }
    const auto after = ranges_.upper_bound(seq);
    return after == ranges_.end() ? std::numeric_limits<std::uint64_t>::max() : after->first;
}

void SeqRanges::forget_below(std::uint64_t seq) {
    while (!ranges_.empty() && ranges_.begin()->first < seq) {
        auto node = ranges_.extract(ranges_.begin());
        if (node.mapped().last >= seq) {
            node.key() = seq;
            ranges_.insert(std::move(node));
            return;
        }
        --*total_;
    }
}

void SeqRanges::clear() {
    *total_ -= ranges_.size();
    ranges_.clear();
}

void SeqLine::start(std::uint64_t first) {
    next_ = std::max<std::uint64_t>(first, 1);
    while (!runs_.empty() && runs_.begin()->first < next_) {
        auto node = runs_.extract(runs_.begin());
        Run& run = node.mapped();
        const std::uint64_t old = std::min<std::uint64_t>(next_ - node.key(), run.size());
        std::for_each(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(old),
                      [this](const Item& item) { count_out(item); });
        run.erase(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(old));
        if (!run.empty()) {
            node.key() += old;
            runs_.insert(std::move(node));
        }
    }
    gone_.forget_below(next_);
    reported_.forget_below(next_);
}

void SeqLine::start_at_first_known() {
    start(std::min(first_dropped_, first_known()));
}

std::uint64_t SeqLine::first_known() const {
    return std::min({next_known(0), reported_.next_covered(0), known_last_ + 1});
}

void SeqLine::insert(const Sample& sample) {
    if (sample.seq < next_) {
        return;
    }
    auto at = runs_.upper_bound(sample.seq);
    if (at != runs_.begin()) {
        const auto before = std::prev(at);
        const std::uint64_t end = before->first + before->second.size();
        if (sample.seq < end) {
            return;
        }
        at = sample.seq == end ? before : at;
    }
    if (at == runs_.end() || at->first > sample.seq) {
        at = runs_.emplace_hint(at, sample.seq, Run());
    }
    Item item{sample.time_utc_ns, sample.value, std::string(sample.value.text), sample.quality, sample.replayed};
    item.value.text = {};
    at->second.push_back(std::move(item));
    ++kept_->samples;
    kept_->text_bytes += sample.value.text.size();
    know(sample.seq);
}

void SeqLine::add(SeqRanges& ranges, std::uint64_t first, std::uint64_t last, Reason reason) {
    first = std::max(first, next_);
    if (first <= last) {
        ranges.add(first, last, reason);
        know(last);
    }
}

std::uint64_t SeqLine::next_missing(std::uint64_t seq) const {
    for (;;) {
        const std::uint64_t uncovered = gone_.covered_from(seq) + 1;
        const auto after = runs_.upper_bound(uncovered);
        const auto run = after == runs_.begin() ? runs_.end() : std::prev(after);
        const std::uint64_t end = run == runs_.end() ? 0 : run->first + run->second.size();
        const std::uint64_t found = std::max(uncovered, end);
        if (found == seq) {
            return seq;
        }
        seq = found;
    }
}

std::uint64_t SeqLine::next_known(std::uint64_t seq) const {
    const auto run = runs_.lower_bound(seq);
    const std::uint64_t kept = run == runs_.end() ? std::numeric_limits<std::uint64_t>::max() : run->first;
    return std::min(kept, gone_.next_covered(seq));
}

void SeqLine::give_up(std::uint64_t first, std::uint64_t last, Reason reason) {
    for (std::uint64_t seq = reported_.next_covered(first); seq <= last; seq = reported_.next_covered(seq)) {
        const SeqRanges::Range& reported = *reported_.at(seq);
        lose(seq, std::min(last, reported.last), reported.reason);
        seq = reported.last + 1;
    }
    lose(first, last, reason);
}

void SeqLine::lose(std::uint64_t first, std::uint64_t last, Reason reason) {
    last = std::min(last, known_last_);
    for (std::uint64_t seq = next_missing(std::max(first, next_)); seq <= last; seq = next_missing(seq)) {
        add_gone(seq, std::min(last, next_known(seq) - 1), reason);
    }
}

void SeqLine::drain(const Sample& head, SpliceOutput& output) {
    if (!is_started()) {
        return;
    }
    for (;;) {
        if (!runs_.empty() && runs_.begin()->first == next_) {
            give_run(head, output);
        } else if (gone_.at(next_) != nullptr) {
            lose_range(head, output);
        } else {
            break;
        }
    }
    gone_.forget_below(next_);
    reported_.forget_below(next_);
}

void SeqLine::give_run(const Sample& head, SpliceOutput& output) {
    const auto node = runs_.extract(runs_.begin());
    Sample sample = head;
    sample.epoch = epoch_;
    for (const Item& item : node.mapped()) {
        sample.seq = next_++;
        sample.time_utc_ns = item.time_utc_ns;
        sample.value = item.value;
        sample.value.text = item.text;
        sample.quality = item.quality;
        sample.replayed = item.replayed;
        count_out(item);
        output.give(sample);
    }
}

void SeqLine::lose_range(const Sample& head, SpliceOutput& output) {
    const SeqRanges::Range range = *gone_.at(next_);
    const std::uint64_t kept = runs_.empty() ? std::numeric_limits<std::uint64_t>::max() : runs_.begin()->first;
    const std::uint64_t last = std::min(range.last, kept - 1);
    const Gap gap{head.topic, epoch_, next_, last, range.reason, head.topic_index};
    next_ = last + 1;
    output.lose(gap);
}

void SeqLine::drop_ahead() {
    first_dropped_ = std::min(first_dropped_, first_known());
    for (const auto& [first, run] : runs_) {
        for (const Item& item : run) {
            count_out(item);
        }
    }
    runs_.clear();
    gone_.clear();
    reported_.clear();
}

void SeqLine::count_out(const Item& item) const noexcept {
    --kept_->samples;
    kept_->text_bytes -= item.text.size();
}

}  // namespace telegate::tail
