#include "publish/slow_gaps_store.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

GapStore::Page& GapStore::page_of(ChannelId channel) {
    const std::size_t index = to_index(channel) / page_channels;
    if (index >= pages_.size()) {
        pages_.resize(index + 1);
    }
    std::unique_ptr<Page>& page = pages_[index];
    if (page == nullptr) {
        page = std::make_unique<Page>();
        ++pages_used_;
    }
    return *page;
}

void GapStore::add(const RunDigest& lost, LossReason reason) {
    for (const SampleRange& missing : lost.parts) {
        Page& page = page_of(missing.channel);
        Gap& latest = page.latest[to_index(missing.channel) % page_channels];
        if (latest.seqs.first != 0 && latest.seqs.last + 1 == missing.first_seq && latest.reason == reason) [[likely]] {
            latest.seqs.last = missing.last_seq;
        } else {
            add_range(page, latest, missing.channel, {{missing.first_seq, missing.last_seq}, reason});
        }
    }
}

void GapStore::add_range(Page& page, Gap& latest, ChannelId channel, const Gap& gap) {
    if (latest.seqs.first != 0) {
        earlier_[to_index(channel)].push_back(latest);
        ++earlier_entries_;
    } else {
        ++page.used;
    }
    latest = gap;
    ++ranges_;
}

/// Removes and returns all ranges of the channel, including the latest.
std::vector<GapStore::Gap> GapStore::take_channel(Page& page, ChannelId channel) {
    std::vector<Gap> gaps;
    if (auto earlier = earlier_.extract(to_index(channel))) {
        gaps = std::move(earlier.mapped());
        earlier_entries_ -= gaps.size();
    }
    Gap& latest = page.latest[to_index(channel) % page_channels];
    gaps.push_back(latest);
    latest = {};
    --page.used;
    ranges_ -= gaps.size();
    return gaps;
}

void GapStore::put_back(Page& page, ChannelId channel, const std::vector<Gap>& gaps, std::size_t from) {
    for (; from < gaps.size(); ++from) {
        add_range(page, page.latest[to_index(channel) % page_channels], channel, gaps[from]);
    }
}

bool GapStore::report(const NoticeWriter& writer, const std::function<bool(ChannelId channel, const Gap& gap)>& write) {
    for (std::size_t i = 0; i < pages_.size() * page_channels; ++i) {
        std::unique_ptr<Page>& page = pages_[i / page_channels];
        if (page == nullptr) {
            i |= page_channels - 1;
            continue;
        }
        if (page->latest[i % page_channels].seqs.first != 0) {
            const auto channel = static_cast<ChannelId>(i);
            std::vector<Gap> gaps = take_channel(*page, channel);
            // A later loss can be older: it was in front of the pending ones.
            std::stable_sort(gaps.begin(), gaps.end(),
                             [](const Gap& a, const Gap& b) { return a.seqs.first < b.seqs.first; });
            const auto later = std::stable_partition(gaps.begin(), gaps.end(),
                                                     [&](const Gap& gap) { return writer.reports(gap.reason); });
            const auto unreported =
                std::find_if_not(gaps.begin(), later, [&](const Gap& gap) { return write(channel, gap); });
            put_back(*page, channel, gaps, static_cast<std::size_t>(unreported - gaps.begin()));
            if (unreported != later) {
                return true;
            }
        }
        if (page->used == 0) {
            page.reset();
            --pages_used_;
            i |= page_channels - 1;
        }
    }
    return false;
}

void GapStore::clear() noexcept {
    *this = {};
}

}  // namespace telegate
