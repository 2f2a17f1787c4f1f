#pragma once

#include "buffers/item_pool.hpp"
#include "buffers/slot_table.hpp"
#include "core/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A subscriber's key in the index; reused after remove_subscriber().
enum class SubscriberKey : std::uint32_t {};

/// The prefixes that subscribers have subscribed to: a set per subscriber, as in libzmq, not a count.
///
/// Each distinct prefix is stored once, in cells of 64 bytes, and found by a keyed hash that no peer can predict.
///
/// Threads: one.
/// Limits: the given ones, subscription_bytes_max per prefix, and subscription_bytes_total_max for all distinct
/// prefixes. A subscription to a prefix of up to 50 bytes takes about 130 bytes, and 64 more for every 60 bytes beyond.
/// Failure: insert() returns refused over a limit and may throw std::bad_alloc, changing nothing. The constructor
/// throws std::runtime_error if no random bytes are available.
///
/// insert() and erase() take constant time, except when a table grows or shrinks: see SlotTable.
class SubscriptionIndex {
  public:
    struct Limits {
        std::size_t subscriptions_max = limits::subscriptions_max;
        std::size_t per_subscriber_max = limits::subscriptions_per_peer_max;
        std::size_t bytes_per_subscriber_max = limits::subscription_bytes_per_peer_max;
        /// Half of the capacity is reserved for this many subscribers, an equal share each, so that a few subscribers
        /// cannot use all of it. 0: nothing is reserved.
        std::size_t shares = 0;
    };
    explicit SubscriptionIndex(Limits limits);
    ~SubscriptionIndex();
    SubscriptionIndex(const SubscriptionIndex&) = delete;
    SubscriptionIndex& operator=(const SubscriptionIndex&) = delete;

    [[nodiscard]] SubscriberKey add_subscriber();
    /// Removes a subscriber with its subscriptions, in time proportional to their number. Calls `each`, unless empty,
    /// with every prefix before removing it; `each` must not change the index.
    void remove_subscriber(SubscriberKey subscriber, const std::function<void(std::string_view prefix)>& each = {});

    enum class Insert : std::uint8_t { added, known, refused };
    Insert insert(SubscriberKey subscriber, std::string_view prefix);
    /// Returns false if the subscriber does not have the prefix.
    bool erase(SubscriberKey subscriber, std::string_view prefix);

    /// Adds to `out` every subscriber that has a prefix of `topic`, each once. Costs one search for each prefix length
    /// in use, plus the subscribers found.
    void match(std::string_view topic, std::vector<SubscriberKey>& out) const;
    /// Returns true if any prefix matches.
    [[nodiscard]] bool matches(std::string_view topic) const { return matching_bytes(topic).has_value(); }
    /// Returns the length of a prefix that `topic` begins with. With few prefixes, as a Subscriber has, compares their
    /// first bytes instead of searching.
    [[nodiscard]] std::optional<std::size_t> matching_bytes(std::string_view topic) const {
        if (prefixes_.size() > few_max) {
            return matching_bytes_of_many(topic);
        }
        for (std::size_t number = 0; number < prefixes_.size(); ++number) {
            if (few_[number].may_begin(topic) && (few_[number].is_whole(topic) || begins(few_[number].prefix, topic))) {
                return few_[number].bytes;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::size_t size() const noexcept { return pairs_.size(); }
    [[nodiscard]] std::size_t size_of(SubscriberKey subscriber) const noexcept;
    /// Returns a few of a subscriber's prefixes, the latest, sorted, for display.
    [[nodiscard]] std::vector<std::string> some(SubscriberKey subscriber, std::size_t count_max) const;
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    static constexpr std::uint32_t none = 0;

    /// A prefix, or the continuation of a long one.
    struct alignas(64) Cell {
        static constexpr std::size_t head_bytes = 50;
        static constexpr std::size_t more_bytes = 60;
        struct Head {
            std::uint32_t first;  // of its memberships, unordered
            std::uint32_t hash;
            std::uint16_t bytes;
            char text[head_bytes];
        };
        std::uint32_t next;  // the continuation, or none
        union {
            Head head;
            char more[more_bytes];
        };
    };
    static_assert(sizeof(Cell) == 64);

    /// One subscriber's subscription to one prefix: an entry in a list of each.
    struct Membership {
        std::uint32_t next;
        std::uint32_t previous;
        std::uint32_t next_own;
        std::uint32_t previous_own;
        std::uint32_t subscriber;
        std::uint32_t prefix;
    };

    struct Subscriber {
        std::uint32_t first = none;  // its latest membership
        bool live = false;
        std::size_t count = 0;
        std::size_t bytes = 0;
        mutable std::uint64_t matched = 0;  // the last match() that found it
    };

    /// The prefix lengths in use, with a count and a bit for each.
    class Lengths {
      public:
        void add(std::size_t bytes) noexcept;
        void remove(std::size_t bytes) noexcept;
        /// Calls `each(length)` for every length up to `bytes_max` in ascending order, until it returns true. Returns
        /// true if one did.
        template <class Each>
        bool any_up_to(std::size_t bytes_max, const Each& each) const;

      private:
        static constexpr std::size_t word_bits = 64;
        std::array<std::uint32_t, limits::subscription_bytes_max + 1> counts_{};
        std::array<std::uint64_t, limits::subscription_bytes_max / word_bits + 1> used_{};
    };

    /// With at most this many prefixes, matches() compares each of them.
    static constexpr std::size_t few_max = 8;

    /// A prefix's first bytes, as a number that is compared in one step.
    struct FirstBytes {
        std::uint64_t first;
        std::uint64_t mask;
        std::uint32_t prefix;
        std::uint32_t bytes;

        [[nodiscard]] bool may_begin(std::string_view topic) const noexcept {
            if (topic.size() < sizeof(first)) {
                return true;
            }
            std::uint64_t start = 0;
            std::memcpy(&start, topic.data(), sizeof(start));
            return ((start ^ first) & mask) == 0;
        }
        /// Returns true if may_begin() has compared the whole prefix.
        [[nodiscard]] bool is_whole(std::string_view topic) const noexcept {
            return topic.size() >= sizeof(first) && bytes <= sizeof(first);
        }
    };

    [[nodiscard]] Subscriber& at(SubscriberKey subscriber) noexcept;
    [[nodiscard]] const Subscriber& at(SubscriberKey subscriber) const noexcept;
    [[nodiscard]] static std::size_t cells_for(std::size_t prefix_bytes) noexcept;
    [[nodiscard]] std::uint32_t hash_of(std::string_view bytes) const noexcept;
    [[nodiscard]] std::uint32_t hash_of_pair(std::uint32_t subscriber, std::uint32_t prefix) const noexcept;

    [[nodiscard]] std::uint32_t find_prefix(std::uint32_t hash, std::string_view text) const noexcept;
    [[nodiscard]] std::optional<std::size_t> matching_bytes_of_many(std::string_view topic) const;
    [[nodiscard]] bool begins(std::uint32_t prefix, std::string_view topic) const noexcept;
    [[nodiscard]] FirstBytes first_bytes_of(std::uint32_t prefix) const noexcept;
    /// Returns true if the cell's prefix is equal to `text`.
    [[nodiscard]] bool is(std::uint32_t prefix, std::string_view text) const noexcept;
    [[nodiscard]] std::string_view text_of(std::uint32_t prefix, std::span<char> room) const noexcept;
    [[nodiscard]] std::uint32_t add_prefix(std::uint32_t hash, std::string_view text) noexcept;
    void remove_prefix(std::uint32_t prefix) noexcept;

    [[nodiscard]] std::uint32_t find_membership(std::uint32_t subscriber, std::uint32_t prefix) const noexcept;
    void prefetch(std::uint32_t membership) const noexcept;
    void add_membership(std::uint32_t subscriber, std::uint32_t prefix) noexcept;
    void remove_membership(std::uint32_t membership) noexcept;

    /// Returns the part of `capacity` that an insertion may fill: all of it only within the subscriber's share.
    [[nodiscard]] std::size_t usable(std::size_t capacity, std::size_t share, bool is_within) const noexcept {
        return is_within ? capacity : capacity - share * limits_.shares;
    }

    const Limits limits_;
    const std::size_t share_;        // of subscriptions_max, per subscriber
    const std::size_t bytes_share_;  // of subscription_bytes_total_max
    std::array<unsigned char, 16> hash_key_;
    SlotTable prefixes_;  // cells by text
    SlotTable pairs_;     // memberships by subscriber and prefix
    ItemPool<Cell> cells_;
    ItemPool<Membership> memberships_;
    std::vector<Subscriber> subscribers_;
    std::vector<std::uint32_t> subscribers_free_;
    Lengths lengths_;
    std::array<FirstBytes, few_max> few_{};  // all prefixes, if there are at most few_max
    std::size_t prefix_bytes_ = 0;           // of all distinct prefixes
    mutable std::uint64_t matches_ = 0;      // number of match() calls
};

}  // namespace telegate
