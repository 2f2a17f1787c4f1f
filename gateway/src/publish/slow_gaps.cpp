#include "publish/slow_gaps.hpp"

#include "encode/notice.hpp"

#include <algorithm>

namespace telegate {

SlowGaps::SlowGaps(Parts parts, std::size_t entries_max_in) : parts_(std::move(parts)), entries_max_(entries_max_in) {}

LossHooks SlowGaps::hooks(PayloadFormat format) {
    LossHooks hooks;
    hooks.lost = [this, format](std::uint64_t id, const LostRun& run, LossReason reason) {
        lost({format, id}, run, reason);
    };
    hooks.write_notices = [this, format](std::uint64_t id, NoticeWriter& writer) {
        return write_notices({format, id}, writer);
    };
    hooks.refused = [this, format](std::uint64_t id, const SampleRange& samples) {
        record_left_out(format, id, {samples.channel, samples.last_seq});
    };
    return hooks;
}

void SlowGaps::lost(const Key& key, const LostRun& run, LossReason reason) {
    const std::scoped_lock lock(mutex_);
    const RunDigest& digest = runs_.read(key.first, run);
    if (digest.parts.empty()) {
        return;
    }
    Entry& entry = counts_[key];
    auto& [first, last] = entry.ends[static_cast<std::size_t>(reason)];
    first = first.seq == 0 ? digest.first : first;
    last = digest.last;
    if (entry.is_closing) {
        return;
    }
    entries_ -= entry.gaps.entries();
    entry.gaps.add(digest, reason);
    entries_ += entry.gaps.entries();
    while (entries_ > entries_max_) {
        close_largest();
    }
}

/// Closes the subscriber with the most entries. The one that exceeded the limit may have only its first gap, while
/// stalled subscribers use nearly all entries.
void SlowGaps::close_largest() {
    const auto largest = std::max_element(counts_.begin(), counts_.end(), [](const auto& a, const auto& b) {
        return a.second.gaps.entries() < b.second.gaps.entries();
    });
    Entry& entry = largest->second;
    entries_ -= entry.gaps.entries();
    entry.gaps.clear();
    entry.is_closing = true;
    ++closed_;
    parts_.close(largest->first.first, largest->first.second);
}

bool SlowGaps::write_notices(const Key& key, NoticeWriter& writer) {
    const std::scoped_lock lock(mutex_);
    const auto entry = counts_.find(key);
    if (entry == counts_.end()) {
        return false;
    }
    const NoticeEncoder encoder(key.first, {parts_.channels, parts_.epoch_ms});
    const std::int64_t now = parts_.clock.utc_now_ns();
    const auto write_gap = [&](ChannelId channel, const GapStore::Gap& gap) {
        payload_.clear();
        encoder.append(GapNotice{channel, gap.seqs.first, gap.seqs.last, to_string(gap.reason), now}, payload_);
        return writer.write(gap_topic(parts_.channels.at(channel)), payload_);
    };
    GapStore& gaps = entry->second.gaps;
    entries_ -= gaps.entries();
    const bool is_more = gaps.report(writer, write_gap);
    entries_ += gaps.entries();
    return is_more;
}

void SlowGaps::record_left_out(PayloadFormat format, std::uint64_t id, const SamplePlace& sample) {
    const std::scoped_lock lock(mutex_);
    auto& [first, last] = counts_[{format, id}].ends[static_cast<std::size_t>(LossReason::slow)];
    first = first.seq == 0 ? sample : first;
    last = sample;
}

void SlowGaps::forget(PayloadFormat format, std::uint64_t id) {
    const std::scoped_lock lock(mutex_);
    const auto entry = counts_.find({format, id});
    if (entry != counts_.end()) {
        entries_ -= entry->second.gaps.entries();
        counts_.erase(entry);
    }
}

std::uint64_t SlowGaps::closed() const noexcept {
    const std::scoped_lock lock(mutex_);
    return closed_;
}

std::size_t SlowGaps::ranges() const noexcept {
    const std::scoped_lock lock(mutex_);
    std::size_t ranges = 0;
    for (const auto& [key, entry] : counts_) {
        ranges += entry.gaps.ranges();
    }
    return ranges;
}

LostSample SlowGaps::named(const SamplePlace& place) const {
    return {place.seq == 0 ? "" : parts_.channels.at(place.channel).topic, place.seq};
}

void SlowGaps::show(SubscriberStatus& subscriber) const {
    const std::scoped_lock lock(mutex_);
    const auto entry = counts_.find({subscriber.format, subscriber.id});
    if (entry == counts_.end()) {
        return;
    }
    for (std::size_t reason = 0; reason < loss_reasons; ++reason) {
        const auto& [first, last] = entry->second.ends[reason];
        subscriber.lost[reason] = {named(first), named(last)};
    }
}

}  // namespace telegate
