#include "seq_ranges.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace telegate::tail {

void SeqRanges::add(std::uint64_t first, std::uint64_t last, Reason reason) {
    while (first <= last) {
        const std::uint64_t known = covered_from(first);
        if (known >= first) {
            first = known + 1;
            continue;
        }
        const std::uint64_t end = std::min(last, next_covered(first) - 1);
        const auto after = ranges_.upper_bound(first);
        if (after != ranges_.begin()) {
            Range& before = std::prev(after)->second;
            if (before.last + 1 == first && before.reason == reason) {
                before.last = end;
                first = end + 1;
                continue;
            }
        }
        ranges_.emplace_hint(after, first, Range{end, reason});
        first = end + 1;
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
        const Range range = ranges_.begin()->second;
        ranges_.erase(ranges_.begin());
        if (range.last >= seq) {
            ranges_.emplace(seq, range);
            return;
        }
    }
}

}  // namespace telegate::tail
