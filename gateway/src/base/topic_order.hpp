#pragma once

#include "core/channel_table.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// All channels sorted by topic, so that they can be listed in pages.
///
/// Threads: one.
/// Limits: one id per channel; new channels are inserted on request.
/// Failure: may throw std::bad_alloc.
class TopicOrder {
  public:
    explicit TopicOrder(const ChannelTable& channels) noexcept : channels_(channels) {}

    [[nodiscard]] std::optional<ChannelId> find(std::string_view topic);
    /// Returns the channels whose topics begin with `prefix` and follow `after`.
    [[nodiscard]] std::span<const ChannelId> page(std::string_view prefix, std::string_view after);

  private:
    [[nodiscard]] std::string_view topic(ChannelId id) const noexcept { return channels_.at(id).topic; }
    void catch_up();

    const ChannelTable& channels_;
    std::vector<ChannelId> ids_;
};

}  // namespace telegate
