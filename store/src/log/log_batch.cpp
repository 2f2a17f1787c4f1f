#include "store/log_reader.hpp"

#include <algorithm>
#include <utility>

namespace telegate::store {

const SegmentChannel* LogBatch::find(ChannelId channel) const noexcept {
    if (definitions == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(definitions->begin(), definitions->end(),
                                    [&](const SegmentChannel& each) { return each.id == channel; });
    return found == definitions->end() ? nullptr : &*found;
}

std::uint64_t LogBatch::published_before_sample(std::size_t sample) const noexcept {
    if (!published_before) {
        return 0;
    }
    const std::size_t place = sample < places.size() ? places[sample] : sample;
    std::uint64_t published = *published_before + place;
    for (const BlockSkip& skip : skips) {
        published += skip.before_sample <= place ? skip.samples : 0;
    }
    return published;
}

void LogBatch::drop_front(std::uint32_t count) {
    *published_before += count;
    const auto kept =
        std::find_if(skips.begin(), skips.end(), [&](const BlockSkip& skip) { return skip.before_sample >= count; });
    std::for_each(skips.begin(), kept, [&](const BlockSkip& skip) { *published_before += skip.samples; });
    skips.erase(skips.begin(), kept);
    for (BlockSkip& skip : skips) {
        skip.before_sample -= count;
    }
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(count));
}

void LogBatch::clear() noexcept {
    LogBatch empty;
    empty.samples.swap(samples);  // keeps their memory
    empty.gaps.swap(gaps);
    empty.places.swap(places);
    empty.samples.clear();
    empty.gaps.clear();
    empty.places.clear();
    *this = std::move(empty);
}

void LogBatch::omit(const std::vector<bool>& channels, std::vector<BlockGap>& more_gaps) {
    auto gap = more_gaps.begin();
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i <= samples.size(); ++i) {
        for (; gap != more_gaps.end() && gap->before_sample <= i; ++gap) {
            gap->before_sample = kept;
        }
        if (i < samples.size() && !channels[to_index(samples[i].channel)]) {
            places.push_back(i);
            samples[kept++] = samples[i];
        }
    }
    samples.resize(kept);
}

void LogBatch::keep_times(std::int64_t since_ns, std::int64_t until_ns) {
    std::vector<BlockGap> kept_gaps;
    std::uint32_t kept = 0;
    std::size_t next_gap = 0;
    bool was_kept = samples.empty();
    for (std::size_t i = 0; i <= samples.size(); ++i) {
        const bool is_kept =
            i < samples.size() && samples[i].time_utc_ns >= since_ns && samples[i].time_utc_ns < until_ns;
        for (; next_gap < gaps.size() && gaps[next_gap].before_sample <= i; ++next_gap) {
            if (was_kept || is_kept) {
                kept_gaps.push_back({kept, gaps[next_gap].gap});
            }
        }
        if (is_kept) {
            samples[kept++] = samples[i];
        }
        was_kept = is_kept;
    }
    samples.resize(kept);
    gaps = std::move(kept_gaps);
}

}  // namespace telegate::store
