#include "subscription_set.hpp"

#include "core/limits.hpp"

#include <algorithm>

namespace telegate {

SubscriptionSet::Insert SubscriptionSet::insert(std::string_view prefix) {
    if (prefixes_.contains(prefix)) {
        return Insert::known;
    }
    if (prefix.size() > limits::subscription_bytes_max || prefixes_.size() == limits::subscriptions_per_peer_max ||
        total_ >= limits::subscriptions_max || bytes_ + prefix.size() > limits::subscription_bytes_per_peer_max) {
        return Insert::refused;
    }
    prefixes_.emplace(prefix);
    ++total_;
    bytes_ += prefix.size();
    longest_ = std::max(longest_, prefix.size());
    return Insert::added;
}

bool SubscriptionSet::erase(std::string_view prefix) {
    const auto found = prefixes_.find(prefix);
    if (found == prefixes_.end()) {
        return false;
    }
    bytes_ -= found->size();
    prefixes_.erase(found);
    --total_;
    return true;
}

bool SubscriptionSet::matches(std::string_view topic) const noexcept {
    if (prefixes_.empty()) {
        return false;
    }
    const std::size_t longest = std::min(longest_, topic.size());
    for (std::size_t bytes = 0; bytes <= longest; ++bytes) {
        if (prefixes_.contains(topic.substr(0, bytes))) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> SubscriptionSet::some(std::size_t count_max) const {
    std::vector<std::string> result;
    for (auto prefix = prefixes_.begin(); prefix != prefixes_.end() && result.size() < count_max; ++prefix) {
        result.push_back(*prefix);
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace telegate
