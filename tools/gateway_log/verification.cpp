#include "verification.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace telegate::log_tool {

void ChannelLedger::add_missing(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason) {
    by_reason_[static_cast<std::size_t>(reason)] += last_seq - first_seq + 1;
    if (!missing_.empty() && missing_.back().last_seq + 1 == first_seq && missing_.back().reason == reason) {
        missing_.back().last_seq = last_seq;
    } else if (missing_.size() < ranges_max) {
        missing_.push_back({first_seq, last_seq, reason});
    } else {
        ++ranges_not_kept_;
    }
}

void ChannelLedger::add_jump(std::uint64_t seq) {
    if (seq > last_seq_) {
        add_missing(last_seq_ + 1, seq - 1, store::GapReason::unknown);
        last_seq_ = seq;
        ++samples_;
        return;
    }
    const auto range =
        std::upper_bound(missing_.begin(), missing_.end(), seq,
                         [](std::uint64_t number, const Missing& each) { return number < each.first_seq; });
    const bool was_missing = range != missing_.begin() && std::prev(range)->last_seq >= seq;
    ++(was_missing ? inversions_ : duplicates_);
}

bool ChannelLedger::add_gap(const store::LogGap& gap) {
    if (gap.first_seq <= last_seq_) {
        ++duplicates_;
    }
    if (gap.last_seq <= last_seq_) {
        return false;
    }
    if (gap.first_seq > last_seq_ + 1) {
        add_missing(last_seq_ + 1, gap.first_seq - 1, store::GapReason::unknown);
    }
    add_missing(std::max(gap.first_seq, last_seq_ + 1), gap.last_seq, gap.reason);
    last_seq_ = gap.last_seq;
    return true;
}

std::uint64_t ChannelLedger::missing_samples() const noexcept {
    return std::accumulate(by_reason_.begin(), by_reason_.end(), std::uint64_t{0});
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
            if (ledger != nullptr && ledger->add_gap(gap) && gap.reason != store::GapReason::unknown) {
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
        return definition == nullptr ? nullptr : &epoch_.channels[topic_of(*definition)];
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
    ++totals_.epochs;
    for (const auto& [topic, channel] : epoch_.channels) {
        totals_.samples += channel.samples();
        totals_.duplicates += channel.duplicates();
        totals_.inversions += channel.inversions();
        for (std::size_t i = 0; i < reasons; ++i) {
            totals_.missing_by_reason[i] += channel.missing_by_reason()[i];
        }
    }
    epoch_.is_last = is_last;
    epoch_end_(epoch_);
    epoch_ = {};
    has_epoch_ = false;
}

}  // namespace telegate::log_tool
