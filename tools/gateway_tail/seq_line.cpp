#include "seq_line.hpp"

#include "merger.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace telegate::tail {

SeqLine::Ranges::iterator SeqLine::add(std::uint64_t first, Range range) {
    ++kept_->ranges;
    return ranges_.insert_or_assign(first, std::move(range)).first;
}

SeqLine::Ranges::iterator SeqLine::remove(Ranges::iterator at) {
    --kept_->ranges;
    for (const Item& item : at->second.samples) {
        --kept_->samples;
        kept_->text_bytes -= item.text.size();
    }
    return ranges_.erase(at);
}

/// Returns the range that begins at `seq`, after dividing the one that contains it.
SeqLine::Ranges::iterator SeqLine::split(std::uint64_t seq) {
    const auto at = ranges_.lower_bound(seq);
    if (seq >= end_ || (at != ranges_.end() && at->first == seq)) {
        return at;
    }
    const auto before = std::prev(at);
    Range after{before->second.state, before->second.reason, {}};
    if (after.state == State::kept) {
        const auto middle = before->second.samples.begin() + static_cast<std::ptrdiff_t>(seq - before->first);
        after.samples.assign(std::make_move_iterator(middle), std::make_move_iterator(before->second.samples.end()));
        before->second.samples.erase(middle, before->second.samples.end());
    }
    return add(seq, std::move(after));
}

/// Makes the range part of the one before it if they are alike. Returns the next one.
SeqLine::Ranges::iterator SeqLine::join(Ranges::iterator at) {
    const bool is_alike = at != ranges_.begin() && at->second.state != State::kept &&
                          std::prev(at)->second.state == at->second.state &&
                          std::prev(at)->second.reason == at->second.reason;
    return is_alike ? remove(at) : std::next(at);
}

template <class Change>
void SeqLine::change(std::uint64_t first, std::uint64_t last, const Change& change) {
    first = std::max(first, begin());
    last = std::min(last, end_ - 1);
    if (first > last) {
        return;
    }
    const auto after = split(last + 1);
    for (auto at = split(first); at != after; at = join(at)) {
        change(at->second);
    }
    if (after != ranges_.end()) {
        join(after);
    }
}

void SeqLine::start(std::uint64_t first) {
    next_ = std::max<std::uint64_t>(first, 1);
    const auto kept = split(next_);
    for (auto at = ranges_.begin(); at != kept;) {
        at = remove(at);
    }
    end_ = std::max(end_, next_);
}

std::uint64_t SeqLine::first_known() const {
    const auto found = std::find_if(ranges_.begin(), ranges_.end(),
                                    [](const auto& range) { return range.second.state != State::missing; });
    return found == ranges_.end() ? end_ : found->first;
}

void SeqLine::know(std::uint64_t seq) {
    if (seq < end_) {
        return;
    }
    if (ranges_.empty() || ranges_.rbegin()->second.state != State::missing) {
        add(end_, {});
    }
    end_ = seq + 1;
}

void SeqLine::insert(const Sample& sample) {
    if (sample.seq < next_) {
        return;
    }
    auto at = std::prev(ranges_.end(), ranges_.empty() ? 0 : 1);
    if (sample.seq == end_ && at != ranges_.end() && at->second.state == State::kept) {
        ++end_;
    } else {
        know(sample.seq);
        if (std::prev(ranges_.upper_bound(sample.seq))->second.state == State::kept) {
            return;
        }
        split(sample.seq + 1);
        at = split(sample.seq);
        if (at != ranges_.begin() && std::prev(at)->second.state == State::kept) {
            at = std::prev(remove(at));
        }
        at->second.state = State::kept;
    }
    Item item{sample.time_utc_ns, sample.value, std::string(sample.value.text), sample.quality, sample.replayed};
    item.value.text = {};
    at->second.samples.push_back(std::move(item));
    ++kept_->samples;
    kept_->text_bytes += sample.value.text.size();
}

void SeqLine::mark(std::uint64_t first, std::uint64_t last, State state, Reason reason) {
    know(last);
    change(first, last, [state, reason](Range& range) {
        if (range.state < state) {
            range.state = state;
            range.reason = reason;
        }
    });
}

void SeqLine::abandon(Reason reason, std::uint64_t first, std::uint64_t last) {
    change(first, last, [reason](Range& range) {
        if (range.state < State::gone) {
            range.reason = range.state == State::reported ? range.reason : reason;
            range.state = State::gone;
        }
    });
}

void SeqLine::drain(const Sample& head, MergerOutput& output) {
    while (is_started() && !ranges_.empty() && ranges_.begin()->second.state >= State::gone) {
        const auto at = ranges_.begin();
        next_ = std::next(at) == ranges_.end() ? end_ : std::next(at)->first;
        if (at->second.state == State::gone) {
            output.lose({head.topic, epoch_, at->first, next_ - 1, at->second.reason, head.topic_index});
        } else {
            Sample sample = head;
            sample.epoch = epoch_;
            sample.seq = at->first;
            write_to(at->second, sample, output);
        }
        remove(at);
    }
}

/// `sample` has what the samples of the range have in common, and the first seq.
void SeqLine::write_to(const Range& range, Sample sample, MergerOutput& output) const {
    for (const Item& item : range.samples) {
        sample.time_utc_ns = item.time_utc_ns;
        sample.value = item.value;
        sample.value.text = item.text;
        sample.quality = item.quality;
        sample.replayed = item.replayed;
        output.write(sample);
        ++sample.seq;
    }
}

void SeqLine::drop_ahead() {
    const std::uint64_t first = first_known();
    for (auto at = ranges_.begin(); at != ranges_.end();) {
        at = remove(at);
    }
    if (begin() < first) {
        add(begin(), {});
    }
    if (first < end_) {
        add(first, {State::discarded, Reason::other, {}});
    }
}

}  // namespace telegate::tail
