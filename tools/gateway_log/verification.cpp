#include "verification.hpp"

#include <iterator>
#include <numeric>
#include <vector>

namespace telegate::log_tool {

void ChannelLedger::keep(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason) {
    const auto after = missing_.upper_bound(first_seq);
    if (after != missing_.begin()) {
        Missing& before = std::prev(after)->second;
        if (before.last_seq + 1 == first_seq && before.reason == reason) {
            before.last_seq = last_seq;
            return;
        }
    }
    if (missing_.size() < ranges_max) {
        missing_.emplace_hint(after, first_seq, Missing{last_seq, reason});
    } else {
        ++ranges_not_kept_;
    }
}

void ChannelLedger::add_missing(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason) {
    by_reason_[static_cast<std::size_t>(reason)] += last_seq - first_seq + 1;
    keep(first_seq, last_seq, reason);
}

ChannelLedger::MissingRanges::iterator ChannelLedger::range_of(std::uint64_t seq) {
    const auto after = missing_.upper_bound(seq);
    if (after == missing_.begin() || std::prev(after)->second.last_seq < seq) {
        return missing_.end();
    }
    return std::prev(after);
}

/// Removes numbers that are in the range.
void ChannelLedger::remove(MissingRanges::iterator range, std::uint64_t first_seq, std::uint64_t last_seq) {
    const auto [begin, old] = *range;
    by_reason_[static_cast<std::size_t>(old.reason)] -= last_seq - first_seq + 1;
    missing_.erase(range);
    if (begin < first_seq) {
        keep(begin, first_seq - 1, old.reason);
    }
    if (last_seq < old.last_seq) {
        keep(last_seq + 1, old.last_seq, old.reason);
    }
}

void ChannelLedger::add_jump(std::uint64_t seq, bool is_historical) {
    if (seq > last_seq_) {
        expect(seq - 1);
        last_seq_ = seq;
        ++samples_;
        return;
    }
    const auto range = range_of(seq);
    if (range == missing_.end()) {
        ++duplicates_;
        return;
    }
    remove(range, seq, seq);
    inversions_ += std::uint64_t{!is_historical || seq < last_historical_seq_};
    ++samples_;
}

void ChannelLedger::expect(std::uint64_t last_seq) {
    if (last_seq > last_seq_) {
        add_missing(last_seq_ + 1, last_seq, store::GapReason::unknown);
        last_seq_ = last_seq;
    }
}

bool ChannelLedger::add_gap(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason) {
    bool is_new = false;
    if (first_seq <= last_seq_) {
        ++overlaps_;
        is_new = name_unknown(first_seq, std::min(last_seq, last_seq_), reason);
    }
    if (last_seq > last_seq_) {
        expect(first_seq - 1);
        add_missing(last_seq_ + 1, last_seq, reason);
        last_seq_ = last_seq;
        is_new = true;
    }
    return is_new;
}

/// Gives missing samples without a known reason a reason. Returns whether there were any.
bool ChannelLedger::name_unknown(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> unknown;
    auto range = missing_.upper_bound(first_seq);
    range = range == missing_.begin() ? range : std::prev(range);
    for (; range != missing_.end() && range->first <= last_seq; ++range) {
        if (range->second.reason == store::GapReason::unknown && range->second.last_seq >= first_seq) {
            unknown.emplace_back(std::max(first_seq, range->first), std::min(last_seq, range->second.last_seq));
        }
    }
    for (const auto& [first, last] : unknown) {
        remove(range_of(first), first, last);
        add_missing(first, last, reason);
    }
    return !unknown.empty();
}

std::uint64_t ChannelLedger::missing_samples() const noexcept {
    return std::accumulate(by_reason_.begin(), by_reason_.end(), std::uint64_t{0});
}

void VerificationTotals::add(const EpochLedger& epoch) {
    ++epochs;
    for (const auto& [topic, channel] : epoch.channels) {
        samples += channel.samples();
        duplicates += channel.duplicates();
        inversions += channel.inversions();
        overlaps += channel.overlaps();
        for (std::size_t i = 0; i < reasons; ++i) {
            missing_by_reason[i] += channel.missing_by_reason()[i];
        }
    }
}

std::uint64_t VerificationTotals::missing() const noexcept {
    return std::accumulate(missing_by_reason.begin(), missing_by_reason.end(), std::uint64_t{0});
}

void Verification::add(const store::LogBatch& batch) {
    if (!has_epoch_ || batch.epoch_ms != epoch_.epoch_ms) {
        end_epoch(false);
        has_epoch_ = true;
        epoch_.epoch_ms = batch.epoch_ms;
    }
    ledgers_.begin(batch);
    std::size_t next_gap = 0;
    for (std::size_t i = 0; i <= batch.samples.size(); ++i) {
        const bool is_end = i == batch.samples.size();
        for (; next_gap < batch.gaps.size() && (is_end || batch.gaps[next_gap].before_sample <= i); ++next_gap) {
            const store::LogGap& gap = batch.gaps[next_gap].gap;
            ChannelLedger* const ledger = ledger_of(gap.channel);
            if (ledger != nullptr && ledger->add_gap(gap.first_seq, gap.last_seq, gap.reason) &&
                gap.reason != store::GapReason::unknown) {
                ++totals_.gaps;
            }
        }
        if (is_end) {
            break;
        }
        if (ChannelLedger* const ledger = ledger_of(batch.samples[i].channel)) {
            ledger->add_sample(batch.samples[i].seq);
        }
    }
    epoch_.is_ended = epoch_.is_ended || batch.ends_epoch;
}

/// Returns null, and counts an entry, if the channel has no name.
ChannelLedger* Verification::ledger_of(ChannelId channel) {
    ChannelLedger* const ledger = ledgers_.at(channel, [&](const store::SegmentChannel* definition) {
        return definition == nullptr ? nullptr : &epoch_.channels[definition->topic()];
    });
    if (ledger == nullptr) {
        ++totals_.undefined;
    }
    return ledger;
}

void Verification::end_epoch(bool is_last) {
    if (!has_epoch_) {
        return;
    }
    totals_.add(epoch_);
    epoch_.is_last = is_last;
    epoch_end_(epoch_);
    epoch_ = {};
    has_epoch_ = false;
}

}  // namespace telegate::log_tool
