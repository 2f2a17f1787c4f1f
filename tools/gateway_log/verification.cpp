#include "verification.hpp"

#include <iterator>
#include <numeric>
#include <vector>

namespace telegate::log_tool {

void LedgerCounts::add(const LedgerCounts& more) noexcept {
    samples += more.samples;
    gaps += more.gaps;
    duplicates += more.duplicates;
    inversions += more.inversions;
    overlaps += more.overlaps;
    for (std::size_t i = 0; i < reasons; ++i) {
        missing_by_reason[i] += more.missing_by_reason[i];
    }
}

std::uint64_t LedgerCounts::missing() const noexcept {
    return std::accumulate(missing_by_reason.begin(), missing_by_reason.end(), std::uint64_t{0});
}

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
    counts_.missing_by_reason[static_cast<std::size_t>(reason)] += last_seq - first_seq + 1;
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
    counts_.missing_by_reason[static_cast<std::size_t>(old.reason)] -= last_seq - first_seq + 1;
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
        ++counts_.samples;
        return;
    }
    const auto range = range_of(seq);
    if (range == missing_.end()) {
        ++counts_.duplicates;
        return;
    }
    remove(range, seq, seq);
    counts_.inversions += std::uint64_t{!is_historical || seq < last_historical_seq_};
    ++counts_.samples;
}

void ChannelLedger::expect(std::uint64_t last_seq) {
    if (last_seq > last_seq_) {
        add_missing(last_seq_ + 1, last_seq, store::GapReason::unknown);
        last_seq_ = last_seq;
    }
}

void ChannelLedger::add_gap(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason) {
    bool is_new = false;
    if (first_seq <= last_seq_) {
        ++counts_.overlaps;
        is_new = name_unknown(first_seq, std::min(last_seq, last_seq_), reason);
    }
    if (last_seq > last_seq_) {
        expect(first_seq - 1);
        add_missing(last_seq_ + 1, last_seq, reason);
        last_seq_ = last_seq;
        is_new = true;
    }
    counts_.gaps += std::uint64_t{is_new && reason != store::GapReason::unknown};
}

/// Assigns a reason to missing samples without a known one. Returns whether there were any.
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

LedgerCounts EpochLedger::counts() const noexcept {
    LedgerCounts counts;
    for (const auto& [topic, channel] : channels) {
        counts.add(channel.counts());
    }
    return counts;
}

void VerificationTotals::add(const EpochLedger& epoch) noexcept {
    ++epochs;
    LedgerCounts::add(epoch.counts());
}

void Verification::add(const store::LogBatch& batch) {
    totals_.unnamed += batch.unnamed;
    if (!epoch_ || batch.epoch_ms != epoch_->epoch_ms || batch.restarts_seqs) {
        end_epoch(false);
        epoch_.emplace().epoch_ms = batch.epoch_ms;
    }
    ledgers_.begin(batch);
    store::for_entries(
        batch.samples, batch.gaps,
        [this](const store::BlockGap& each) {
            if (ChannelLedger* const ledger = ledger_of(each.gap.channel)) {
                ledger->add_gap(each.gap.first_seq, each.gap.last_seq, each.gap.reason);
            }
        },
        [this](const TelemetrySample& sample) {
            if (ChannelLedger* const ledger = ledger_of(sample.channel)) {
                ledger->add_sample(sample.seq);
            }
        });
    epoch_->is_ended = epoch_->is_ended || batch.ends_epoch;
}

/// Returns null, and counts an entry, if the channel has no name.
ChannelLedger* Verification::ledger_of(ChannelId channel) {
    ChannelLedger* const ledger = ledgers_.at(channel, [&](const store::SegmentChannel* definition) {
        return definition == nullptr ? nullptr : &epoch_->channels[definition->topic()];
    });
    if (ledger == nullptr) {
        ++totals_.undefined;
    }
    return ledger;
}

void Verification::end_epoch(bool is_last) {
    if (!epoch_) {
        return;
    }
    totals_.add(*epoch_);
    epoch_->is_last = is_last;
    epoch_end_(*epoch_);
    epoch_.reset();
}

}  // namespace telegate::log_tool
