#include "publish/subscription_index.hpp"

#include "base/sodium.hpp"
#include "core/assert.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

namespace telegate {

namespace {

constexpr std::size_t items_max = std::size_t{1} << 30U;

std::size_t share_of(std::size_t capacity, const SubscriptionIndex::Limits& limits) noexcept {
    return limits.shares == 0 ? 0 : capacity / 2 / limits.shares;
}

template <class Number>
Number number_of(SubscriberKey subscriber) noexcept {
    return static_cast<Number>(subscriber);
}

}  // namespace

SubscriptionIndex::SubscriptionIndex(Limits limits)
    : limits_(limits),
      share_(share_of(limits.subscriptions_max, limits)),
      bytes_share_(share_of(limits::subscription_bytes_total_max, limits)) {
    TELEGATE_ASSERT(limits.subscriptions_max <= items_max);
    start_sodium();
    static_assert(sizeof(hash_key_) == crypto_shorthash_KEYBYTES);
    static_assert(std::is_trivially_copyable_v<Cell> && std::is_trivially_copyable_v<Membership>);
    randombytes_buf(hash_key_.data(), hash_key_.size());
}

SubscriptionIndex::~SubscriptionIndex() = default;

SubscriberKey SubscriptionIndex::add_subscriber() {
    if (subscribers_free_.empty()) {
        subscribers_.emplace_back();
        subscribers_free_.reserve(subscribers_.capacity());
        subscribers_free_.push_back(static_cast<std::uint32_t>(subscribers_.size() - 1));
    }
    const std::uint32_t number = subscribers_free_.back();
    subscribers_free_.pop_back();
    subscribers_[number].live = true;
    return SubscriberKey{number};
}

void SubscriptionIndex::remove_subscriber(SubscriberKey subscriber,
                                          const std::function<void(std::string_view prefix)>& each) {
    Subscriber& owner = at(subscriber);
    std::array<char, limits::subscription_bytes_max> room;
    while (owner.first != none) {
        if (each) {
            each(text_of(memberships_[owner.first].prefix, room));
        }
        remove_membership(owner.first);
    }
    owner = {};
    subscribers_free_.push_back(number_of<std::uint32_t>(subscriber));
}

SubscriptionIndex::Insert SubscriptionIndex::insert(SubscriberKey subscriber, std::string_view prefix) {
    const Subscriber& owner = at(subscriber);
    if (prefix.size() > limits::subscription_bytes_max) {
        return Insert::refused;
    }
    const auto number = number_of<std::uint32_t>(subscriber);
    const std::uint32_t hash = hash_of(prefix);
    std::uint32_t cell = find_prefix(hash, prefix);
    if (cell != none && find_membership(number, cell) != none) {
        return Insert::known;
    }
    const std::size_t own_bytes = owner.bytes + prefix.size();
    const std::size_t all_bytes = prefix_bytes_ + (cell == none ? prefix.size() : 0);
    if (owner.count >= limits_.per_subscriber_max || own_bytes > limits_.bytes_per_subscriber_max ||
        size() >= usable(limits_.subscriptions_max, share_, owner.count < share_) ||
        all_bytes > usable(limits::subscription_bytes_total_max, bytes_share_, own_bytes <= bytes_share_)) {
        return Insert::refused;
    }
    pairs_.reserve_one();
    memberships_.reserve(1);
    if (cell == none) {
        prefixes_.reserve_one();
        cells_.reserve(cells_for(prefix.size()));
        cell = add_prefix(hash, prefix);
    }
    add_membership(number, cell);
    return Insert::added;
}

bool SubscriptionIndex::erase(SubscriberKey subscriber, std::string_view prefix) {
    if (at(subscriber).count == 0 || prefix.size() > limits::subscription_bytes_max) {
        return false;
    }
    const std::uint32_t cell = find_prefix(hash_of(prefix), prefix);
    const std::uint32_t membership = cell == none ? none : find_membership(number_of<std::uint32_t>(subscriber), cell);
    if (membership == none) {
        return false;
    }
    remove_membership(membership);
    return true;
}

void SubscriptionIndex::match(std::string_view topic, std::vector<SubscriberKey>& out) const {
    ++matches_;
    lengths_.any_up_to(topic.size(), [&](std::size_t bytes) {
        const std::string_view prefix = topic.substr(0, bytes);
        const std::uint32_t cell = find_prefix(hash_of(prefix), prefix);
        for (std::uint32_t at = cell == none ? none : cells_[cell].head.first; at != none; at = memberships_[at].next) {
            const std::uint32_t number = memberships_[at].subscriber;
            if (subscribers_[number].matched != matches_) {
                out.push_back(SubscriberKey{number});
                subscribers_[number].matched = matches_;
            }
        }
        return false;
    });
}

std::optional<std::size_t> SubscriptionIndex::matching_bytes_of_many(std::string_view topic) const {
    std::optional<std::size_t> found;
    lengths_.any_up_to(topic.size(), [&](std::size_t bytes) {
        const std::string_view prefix = topic.substr(0, bytes);
        if (bytes == 0 || find_prefix(hash_of(prefix), prefix) != none) {
            found = bytes;
        }
        return found.has_value();
    });
    return found;
}

std::size_t SubscriptionIndex::size_of(SubscriberKey subscriber) const noexcept {
    return at(subscriber).count;
}

std::vector<std::string> SubscriptionIndex::some(SubscriberKey subscriber, std::size_t count_max) const {
    std::vector<std::string> result;
    std::array<char, limits::subscription_bytes_max> room;
    std::uint32_t membership = at(subscriber).first;
    while (membership != none && result.size() < count_max) {
        result.emplace_back(text_of(memberships_[membership].prefix, room));
        membership = memberships_[membership].next_own;
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::size_t SubscriptionIndex::memory_bytes() const noexcept {
    return sizeof(*this) + prefixes_.memory_bytes() + pairs_.memory_bytes() + cells_.memory_bytes() +
           memberships_.memory_bytes() + subscribers_.capacity() * sizeof(Subscriber) +
           subscribers_free_.capacity() * sizeof(std::uint32_t);
}

SubscriptionIndex::Subscriber& SubscriptionIndex::at(SubscriberKey subscriber) noexcept {
    const auto number = number_of<std::size_t>(subscriber);
    TELEGATE_ASSERT(number < subscribers_.size() && subscribers_[number].live);
    return subscribers_[number];
}

const SubscriptionIndex::Subscriber& SubscriptionIndex::at(SubscriberKey subscriber) const noexcept {
    const auto number = number_of<std::size_t>(subscriber);
    TELEGATE_ASSERT(number < subscribers_.size() && subscribers_[number].live);
    return subscribers_[number];
}

std::size_t SubscriptionIndex::cells_for(std::size_t prefix_bytes) noexcept {
    const std::size_t more = prefix_bytes - std::min(prefix_bytes, Cell::head_bytes);
    return 1 + (more + Cell::more_bytes - 1) / Cell::more_bytes;
}

std::uint32_t SubscriptionIndex::hash_of(std::string_view bytes) const noexcept {
    std::array<unsigned char, crypto_shorthash_BYTES> hash;
    crypto_shorthash(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash_key_.data());
    return std::bit_cast<std::array<std::uint32_t, 2>>(hash)[0];
}

std::uint32_t SubscriptionIndex::hash_of_pair(std::uint32_t subscriber, std::uint32_t prefix) const noexcept {
    const auto bytes = std::bit_cast<std::array<char, 8>>(std::array{subscriber, prefix});
    return hash_of({bytes.data(), bytes.size()});
}

std::uint32_t SubscriptionIndex::find_prefix(std::uint32_t hash, std::string_view text) const noexcept {
    return prefixes_.find(hash, [&](std::uint32_t cell) { return is(cell, text); });
}

bool SubscriptionIndex::is(std::uint32_t prefix, std::string_view text) const noexcept {
    const Cell* cell = &cells_[prefix];
    if (cell->head.bytes != text.size()) {
        return false;
    }
    std::string_view rest = text.substr(std::min(text.size(), Cell::head_bytes));
    if (!text.starts_with(std::string_view(cell->head.text, text.size() - rest.size()))) {
        return false;
    }
    while (!rest.empty()) {
        cell = &cells_[cell->next];
        const std::size_t bytes = std::min(rest.size(), Cell::more_bytes);
        if (!rest.starts_with(std::string_view(cell->more, bytes))) {
            return false;
        }
        rest.remove_prefix(bytes);
    }
    return true;
}

bool SubscriptionIndex::begins(std::uint32_t prefix, std::string_view topic) const noexcept {
    return is(prefix, topic.substr(0, cells_[prefix].head.bytes));
}

SubscriptionIndex::FirstBytes SubscriptionIndex::first_bytes_of(std::uint32_t prefix) const noexcept {
    const Cell::Head& head = cells_[prefix].head;
    FirstBytes result{0, 0, prefix, head.bytes};
    const std::size_t bytes = std::min<std::size_t>(head.bytes, sizeof(result.first));
    std::memcpy(&result.first, head.text, bytes);
    std::memset(&result.mask, 0xFF, bytes);
    return result;
}

std::string_view SubscriptionIndex::text_of(std::uint32_t prefix, std::span<char> room) const noexcept {
    const Cell* cell = &cells_[prefix];
    const std::size_t bytes = cell->head.bytes;
    std::size_t copied = std::min(bytes, Cell::head_bytes);
    std::memcpy(room.data(), cell->head.text, copied);
    while (copied < bytes) {
        cell = &cells_[cell->next];
        const std::size_t count = std::min(bytes - copied, Cell::more_bytes);
        std::memcpy(room.data() + copied, cell->more, count);
        copied += count;
    }
    return {room.data(), bytes};
}

std::uint32_t SubscriptionIndex::add_prefix(std::uint32_t hash, std::string_view text) noexcept {
    const std::uint32_t prefix = cells_.allocate();
    Cell* cell = &cells_[prefix];
    cell->head.first = none;
    cell->head.hash = hash;
    cell->head.bytes = static_cast<std::uint16_t>(text.size());
    std::size_t copied = text.copy(cell->head.text, Cell::head_bytes);
    while (copied < text.size()) {
        cell->next = cells_.allocate();
        cell = &cells_[cell->next];
        copied += text.copy(cell->more, Cell::more_bytes, copied);
    }
    cell->next = none;
    if (prefixes_.size() < few_max) {
        few_[prefixes_.size()] = first_bytes_of(prefix);
    }
    prefixes_.insert(hash, prefix);
    lengths_.add(text.size());
    prefix_bytes_ += text.size();
    return prefix;
}

void SubscriptionIndex::remove_prefix(std::uint32_t prefix) noexcept {
    const std::size_t bytes = cells_[prefix].head.bytes;
    lengths_.remove(bytes);
    prefix_bytes_ -= bytes;
    prefixes_.erase(cells_[prefix].head.hash, prefix);
    const std::size_t left = prefixes_.size();
    if (left < few_max) {
        *std::find_if(few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(left),
                      [prefix](const FirstBytes& each) { return each.prefix == prefix; }) = few_[left];
    } else if (left == few_max) {
        auto next = few_.begin();
        prefixes_.for_each([&](std::uint32_t each) { *next++ = first_bytes_of(each); });
    }
    for (std::uint32_t cell = prefix; cell != none;) {
        const std::uint32_t next = cells_[cell].next;
        cells_.release(cell);
        cell = next;
    }
}

std::uint32_t SubscriptionIndex::find_membership(std::uint32_t subscriber, std::uint32_t prefix) const noexcept {
    prefetch(cells_[prefix].head.first);  // usually the only one
    return pairs_.find(hash_of_pair(subscriber, prefix), [&](std::uint32_t at) {
        return memberships_[at].subscriber == subscriber && memberships_[at].prefix == prefix;
    });
}

/// Prefetches a membership: with many subscriptions, each step waits for memory.
void SubscriptionIndex::prefetch(std::uint32_t membership) const noexcept {
    if (membership != none) {
        __builtin_prefetch(&memberships_[membership]);
    }
}

void SubscriptionIndex::add_membership(std::uint32_t subscriber, std::uint32_t prefix) noexcept {
    Subscriber& owner = subscribers_[subscriber];
    Cell::Head& head = cells_[prefix].head;
    const std::uint32_t added = memberships_.allocate();
    memberships_[added] = {head.first, none, owner.first, none, subscriber, prefix};
    if (head.first != none) {
        memberships_[head.first].previous = added;
    }
    if (owner.first != none) {
        memberships_[owner.first].previous_own = added;
    }
    head.first = added;
    owner.first = added;
    ++owner.count;
    owner.bytes += head.bytes;
    pairs_.insert(hash_of_pair(subscriber, prefix), added);
}

void SubscriptionIndex::remove_membership(std::uint32_t membership) noexcept {
    const Membership gone = memberships_[membership];
    for (const std::uint32_t neighbor : {gone.next, gone.previous, gone.next_own, gone.previous_own}) {
        prefetch(neighbor);
    }
    Subscriber& owner = subscribers_[gone.subscriber];
    Cell::Head& head = cells_[gone.prefix].head;
    pairs_.erase(hash_of_pair(gone.subscriber, gone.prefix), membership);
    memberships_.release(membership);
    (gone.previous == none ? head.first : memberships_[gone.previous].next) = gone.next;
    (gone.previous_own == none ? owner.first : memberships_[gone.previous_own].next_own) = gone.next_own;
    if (gone.next != none) {
        memberships_[gone.next].previous = gone.previous;
    }
    if (gone.next_own != none) {
        memberships_[gone.next_own].previous_own = gone.previous_own;
    }
    --owner.count;
    owner.bytes -= head.bytes;
    if (head.first == none) {
        remove_prefix(gone.prefix);
    }
}

void SubscriptionIndex::Lengths::add(std::size_t bytes) noexcept {
    ++counts_[bytes];
    used_[bytes / word_bits] |= std::uint64_t{1} << (bytes % word_bits);
}

void SubscriptionIndex::Lengths::remove(std::size_t bytes) noexcept {
    if (--counts_[bytes] == 0) {
        used_[bytes / word_bits] &= ~(std::uint64_t{1} << (bytes % word_bits));
    }
}

template <class Each>
bool SubscriptionIndex::Lengths::any_up_to(std::size_t bytes_max, const Each& each) const {
    for (std::size_t word = 0; word < used_.size() && word * word_bits <= bytes_max; ++word) {
        for (std::uint64_t bits = used_[word]; bits != 0; bits &= bits - 1) {
            const std::size_t bytes = word * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            if (bytes > bytes_max) {
                return false;
            }
            if (each(bytes)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace telegate
