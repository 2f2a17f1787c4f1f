#pragma once

#include "core/channel_table.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// Selects channels by topic prefixes. Compares each channel only once.
///
/// Threads: one. Limits: one byte per channel. Failure: matches() may throw std::bad_alloc.
class TopicFilter {
  public:
    /// Without prefixes, all channels match. `channels` must outlive the filter.
    TopicFilter(const ChannelTable& channels, std::vector<std::string> prefixes)
        : channels_(channels), prefixes_(std::move(prefixes)) {}

    [[nodiscard]] bool matches(ChannelId channel) {
        const std::size_t index = to_index(channel);
        if (index >= known_.size()) {
            known_.resize(index + 1, Match::unknown);
        }
        if (known_[index] == Match::unknown) {
            const std::string& topic = channels_.at(channel).topic;
            const bool any =
                prefixes_.empty() || std::any_of(prefixes_.begin(), prefixes_.end(),
                                                 [&](const auto& each) { return topic.starts_with(each); });
            known_[index] = any ? Match::yes : Match::no;
        }
        return known_[index] == Match::yes;
    }

  private:
    enum class Match : std::uint8_t { unknown, yes, no };

    const ChannelTable& channels_;
    const std::vector<std::string> prefixes_;
    std::vector<Match> known_;  // by channel
};

}  // namespace telegate
