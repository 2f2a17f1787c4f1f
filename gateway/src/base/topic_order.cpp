#include "base/topic_order.hpp"

#include <algorithm>

namespace telegate {

void TopicOrder::catch_up() {
    const std::size_t known = ids_.size();
    const std::size_t size = channels_.size();
    if (known == size) {
        return;
    }
    for (std::size_t i = known; i < size; ++i) {
        ids_.push_back(static_cast<ChannelId>(i));
    }
    const auto is_before = [this](ChannelId a, ChannelId b) {
        return topic(a) < topic(b);
    };
    const auto fresh = ids_.begin() + static_cast<std::ptrdiff_t>(known);
    std::sort(fresh, ids_.end(), is_before);
    std::inplace_merge(ids_.begin(), fresh, ids_.end(), is_before);
}

std::optional<ChannelId> TopicOrder::find(std::string_view wanted) {
    catch_up();
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), wanted,
                                        [this](ChannelId id, std::string_view text) { return topic(id) < text; });
    return found != ids_.end() && topic(*found) == wanted ? std::optional(*found) : std::nullopt;
}

std::span<const ChannelId> TopicOrder::page(std::string_view prefix, std::string_view after) {
    catch_up();
    const auto first = after < prefix
                           ? std::lower_bound(ids_.begin(), ids_.end(), prefix,
                                              [this](ChannelId id, std::string_view text) { return topic(id) < text; })
                           : std::upper_bound(ids_.begin(), ids_.end(), after,
                                              [this](std::string_view text, ChannelId id) { return text < topic(id); });
    const auto end =
        std::partition_point(first, ids_.end(), [&](ChannelId id) { return topic(id).starts_with(prefix); });
    return {first, end};
}

}  // namespace telegate
