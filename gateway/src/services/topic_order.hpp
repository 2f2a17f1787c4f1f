#pragma once

#include "core/channel_table.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// All channels in the order of their topics, so that a list of them can be given out in pages.
///
/// Threads: one.
/// Limits:  one id per channel; new ones are sorted in when somebody asks.
/// Failure: may throw std::bad_alloc.
class TopicOrder {
  public:
    explicit TopicOrder(const ChannelTable& channels) noexcept : channels_(channels) {}

    [[nodiscard]] std::optional<ChannelId> find(std::string_view topic);
    /// Those that begin with `prefix` and come behind `after`.
    [[nodiscard]] std::span<const ChannelId> page(std::string_view prefix, std::string_view after);

  private:
    [[nodiscard]] std::string_view topic(ChannelId id) const noexcept { return channels_.at(id).topic; }
    void catch_up();

    const ChannelTable& channels_;
    std::vector<ChannelId> ids_;
};

}  // namespace telegate
