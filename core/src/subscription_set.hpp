#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace telegate {

/// The prefixes that one peer has subscribed to: a set, as libzmq keeps it, not a count.
///
/// Threads: one.
/// Limits:  subscription_bytes_max a prefix, subscriptions_per_peer_max prefixes, and
///          subscription_bytes_per_peer_max in all, subscriptions_max prefixes of all sets together.
/// Failure: insert() answers refused over a limit and may throw std::bad_alloc.
class SubscriptionSet {
  public:
    /// `total`: the prefixes of all sets together, kept by them.
    explicit SubscriptionSet(std::size_t& total) noexcept : total_(total) {}
    ~SubscriptionSet() { total_ -= prefixes_.size(); }
    SubscriptionSet(const SubscriptionSet&) = delete;
    SubscriptionSet& operator=(const SubscriptionSet&) = delete;

    enum class Insert : std::uint8_t { added, known, refused };

    Insert insert(std::string_view prefix);
    /// Whether it was there.
    bool erase(std::string_view prefix);
    [[nodiscard]] bool matches(std::string_view topic) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return prefixes_.size(); }
    /// The first few, for people to look at.
    [[nodiscard]] std::vector<std::string> some(std::size_t count_max) const;

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    std::size_t& total_;
    std::unordered_set<std::string, Hash, std::equal_to<>> prefixes_;
    std::size_t bytes_ = 0;
    std::size_t longest_ = 0;  // no prefix is longer; never lowered by erase()
};

}  // namespace telegate
