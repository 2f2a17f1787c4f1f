#include "publish/subscription_index.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace telegate;
using Insert = SubscriptionIndex::Insert;

namespace {

constexpr SubscriptionIndex::Limits wide{100'000, 100'000, 100'000'000};

std::vector<SubscriberKey> matched(const SubscriptionIndex& index, std::string_view topic) {
    std::vector<SubscriberKey> found;
    index.match(topic, found);
    std::sort(found.begin(), found.end());
    return found;
}

/// A prefix of this length that differs for every number.
std::string numbered(std::size_t number, std::size_t bytes) {
    const std::string text = std::to_string(number);
    return text + std::string(bytes - text.size(), '.');
}

/// A model of the index: a set per subscriber.
struct IndexModel {
    std::map<SubscriberKey, std::set<std::string>> sets;

    [[nodiscard]] std::vector<SubscriberKey> matched(std::string_view topic) const {
        std::vector<SubscriberKey> found;
        for (const auto& [subscriber, prefixes] : sets) {
            if (std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& p) { return topic.starts_with(p); })) {
                found.push_back(subscriber);
            }
        }
        return found;
    }
    [[nodiscard]] std::size_t size() const {
        std::size_t sum = 0;
        for (const auto& [subscriber, prefixes] : sets) {
            sum += prefixes.size();
        }
        return sum;
    }
};

/// Random operations on an index and on its model.
class Pair {
  public:
    explicit Pair(unsigned seed) : random_(seed) {}

    void operate() {
        const std::size_t choice = number(100);
        if (model_.sets.empty() || (choice == 0 && model_.sets.size() < 20)) {
            CHECK(model_.sets.emplace(index_.add_subscriber(), std::set<std::string>()).second);
        } else if (choice == 1) {
            remove(any());
        } else {
            change(any(), choice < grow_share_);
        }
        if (choice == 2) {
            grow_share_ = 25 + number(50);  // so that it fills for a while, and empties for a while
        }
    }

    void compare() {
        REQUIRE(index_.size() == model_.size());
        for (const auto& [subscriber, prefixes] : model_.sets) {
            REQUIRE(index_.size_of(subscriber) == prefixes.size());
            REQUIRE(index_.some(subscriber, 10'000) == std::vector<std::string>(prefixes.begin(), prefixes.end()));
        }
        for (int count = 0; count < 20; ++count) {
            const std::string topic = text();
            CAPTURE(topic);
            REQUIRE(matched(index_, topic) == model_.matched(topic));
            REQUIRE(index_.matches(topic) == !model_.matched(topic).empty());
        }
    }

  private:
    std::size_t number(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }
    SubscriberKey any() { return std::next(model_.sets.begin(), std::ptrdiff_t(number(model_.sets.size())))->first; }

    /// Usually short, so that they collide; some end near a boundary of the index; all begin alike.
    std::string text() {
        static constexpr std::size_t ends[] = {7, 8, 9, 49, 50, 51, 110, 111, 170, 1024};
        std::string result(number(8) == 0 ? ends[number(std::size(ends))] : number(6), 'a');
        if (!result.empty()) {
            result[number(result.size())] = 'b';
            result.back() = static_cast<char>('a' + number(3));
        }
        return result;
    }

    void remove(SubscriberKey subscriber) {
        std::set<std::string> heard;
        index_.remove_subscriber(subscriber, [&](std::string_view prefix) { REQUIRE(heard.emplace(prefix).second); });
        REQUIRE(heard == model_.sets[subscriber]);
        model_.sets.erase(subscriber);
    }

    void change(SubscriberKey subscriber, bool grow) {
        const std::string prefix = text();
        if (grow) {
            const bool added = model_.sets[subscriber].insert(prefix).second;
            REQUIRE(index_.insert(subscriber, prefix) == (added ? Insert::added : Insert::known));
        } else {
            REQUIRE(index_.erase(subscriber, prefix) == (model_.sets[subscriber].erase(prefix) == 1));
        }
    }

    std::mt19937 random_;
    SubscriptionIndex index_{wide};
    IndexModel model_;
    std::size_t grow_share_ = 60;
};

}  // namespace

TEST_CASE("an index without prefixes matches nothing, not even the empty topic", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    CHECK(matched(index, "host/cpu").empty());
    CHECK_FALSE(index.matches(""));
    CHECK_FALSE(index.erase(subscriber, ""));
}

TEST_CASE("a prefix of the index matches topics that begin with it", "[core][publisher][subscription]") {
    auto [prefix, topic, matches] = GENERATE(table<std::string, std::string, bool>({
        {"", "", true},
        {"", "host/cpu", true},
        {"host", "host/cpu", true},
        {"host/cpu", "host/cpu", true},
        {"host/cpu", "host/cp", false},
        {"ost", "host/cpu", false},
        {"Host", "host/cpu", false},
        {std::string("h\0", 2), std::string("h\0st", 4), true},
        {std::string("h\0", 2), "host", false},
        {"\xff\xfe", "\xff\xfe\xfd", true},
        {"12345678", "12345678", true},
        {"12345678", "1234567", false},
        {"12345678", "1234567x", false},
        {"123456789", "123456789", true},
        {"123456789", "12345678", false},
        {"123456789", "12345678x", false},
        {std::string(1024, 'p'), std::string(1025, 'p'), true},
        {std::string(1024, 'p'), std::string(1023, 'p') + "q", false},
    }));
    CAPTURE(prefix, topic);
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    CHECK(index.insert(subscriber, prefix) == Insert::added);
    CHECK(index.matches(topic) == matches);
    CHECK(matched(index, topic).size() == (matches ? 1 : 0));
}

TEST_CASE("a subscriber with several prefixes of a topic is found once", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey first = index.add_subscriber();
    const SubscriberKey second = index.add_subscriber();
    for (const auto* prefix : {"", "host", "host/", "host/cpu"}) {
        CHECK(index.insert(first, prefix) == Insert::added);
    }
    CHECK(index.insert(second, "host/") == Insert::added);
    CHECK(matched(index, "host/cpu") == std::vector{first, second});
    CHECK(matched(index, "host") == std::vector{first});
}

TEST_CASE("subscribing twice is subscribing once, and one cancel ends it", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    CHECK(index.insert(subscriber, "a") == Insert::added);
    CHECK(index.insert(subscriber, "a") == Insert::known);
    CHECK(index.size() == 1);
    CHECK(index.erase(subscriber, "a"));
    CHECK_FALSE(index.erase(subscriber, "a"));
    CHECK_FALSE(index.matches("abc"));
}

TEST_CASE("a prefix stays while at least one subscriber has it", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey first = index.add_subscriber();
    const SubscriberKey second = index.add_subscriber();
    index.insert(first, "a");
    index.insert(second, "a");
    index.remove_subscriber(first);
    CHECK(matched(index, "abc") == std::vector{second});
    CHECK(index.erase(second, "a"));
    CHECK(index.size() == 0);
    CHECK_FALSE(index.matches("abc"));
}

TEST_CASE("a prefix shared by a thousand subscribers matches each of them", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    std::vector<SubscriberKey> subscribers(1'000);
    for (SubscriberKey& subscriber : subscribers) {
        subscriber = index.add_subscriber();
        REQUIRE(index.insert(subscriber, "shared") == Insert::added);
        REQUIRE(index.insert(subscriber, "shared") == Insert::known);
    }
    CHECK(matched(index, "shared/x") == subscribers);
    index.remove_subscriber(subscribers[500]);
    CHECK(matched(index, "shared/x").size() == 999);
}

TEST_CASE("a subscriber that is added after another was removed has none of its prefixes",
          "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey first = index.add_subscriber();
    index.insert(first, "a");
    index.remove_subscriber(first);
    const SubscriberKey second = index.add_subscriber();
    CHECK(index.size_of(second) == 0);
    CHECK(matched(index, "a").empty());
    CHECK(index.insert(second, "a") == Insert::added);
    CHECK(matched(index, "a") == std::vector{second});
}

TEST_CASE("removing a subscriber reports its prefixes, including long ones", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    const std::set<std::string> prefixes{"", "a", std::string(51, 'b'), numbered(7, 1024)};
    for (const std::string& prefix : prefixes) {
        index.insert(subscriber, prefix);
    }
    std::set<std::string> heard;
    index.remove_subscriber(subscriber, [&](std::string_view prefix) { heard.emplace(prefix); });
    CHECK(heard == prefixes);
}

TEST_CASE("some() returns the latest few prefixes, sorted", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    for (const auto* prefix : {"c", "b", "a"}) {
        index.insert(subscriber, prefix);
    }
    CHECK(index.some(subscriber, 10) == std::vector<std::string>{"a", "b", "c"});
    CHECK(index.some(subscriber, 2) == std::vector<std::string>{"a", "b"});
    CHECK(index.some(subscriber, 0).empty());
}

TEST_CASE("an index refuses a prefix over the maximum length", "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    CHECK(index.insert(subscriber, std::string(limits::subscription_bytes_max, 'p')) == Insert::added);
    CHECK(index.insert(subscriber, std::string(limits::subscription_bytes_max + 1, 'q')) == Insert::refused);
    CHECK_FALSE(index.erase(subscriber, std::string(limits::subscription_bytes_max + 1, 'q')));
    CHECK(index.size() == 1);
}

TEST_CASE("a full subscriber is refused new prefixes, keeps its own, and may continue after another was removed",
          "[core][publisher][subscription]") {
    SubscriptionIndex index({100, 3, 100});
    const SubscriberKey full = index.add_subscriber();
    const SubscriberKey other = index.add_subscriber();
    for (const auto* prefix : {"a", "b", "c"}) {
        REQUIRE(index.insert(full, prefix) == Insert::added);
    }
    CHECK(index.insert(full, "d") == Insert::refused);
    CHECK(index.insert(full, "a") == Insert::known);
    CHECK(index.insert(other, "d") == Insert::added);
    CHECK(index.erase(full, "a"));
    CHECK(index.insert(full, "d") == Insert::added);
}

TEST_CASE("a subscriber's prefixes are bounded in bytes, and canceled ones are subtracted",
          "[core][publisher][subscription]") {
    SubscriptionIndex index({100, 100, 10});
    const SubscriberKey subscriber = index.add_subscriber();
    CHECK(index.insert(subscriber, "123456") == Insert::added);
    CHECK(index.insert(subscriber, "12345") == Insert::refused);
    CHECK(index.insert(subscriber, "1234") == Insert::added);
    CHECK(index.insert(subscriber, "") == Insert::added);
    CHECK(index.insert(subscriber, "x") == Insert::refused);
    CHECK(index.erase(subscriber, "1234"));
    CHECK(index.insert(subscriber, "x") == Insert::added);
}

TEST_CASE("all subscribers together have a limit, and removing one frees its share",
          "[core][publisher][subscription]") {
    SubscriptionIndex index({2, 100, 100});
    const SubscriberKey first = index.add_subscriber();
    const SubscriberKey second = index.add_subscriber();
    CHECK(index.insert(first, "a") == Insert::added);
    CHECK(index.insert(second, "a") == Insert::added);
    CHECK(index.insert(second, "b") == Insert::refused);
    index.remove_subscriber(first);
    CHECK(index.insert(second, "b") == Insert::added);
}

TEST_CASE("half of the capacity is shared evenly, the other half is first come, first served",
          "[core][publisher][subscription]") {
    SubscriptionIndex index({20, 100, 100, 2});  // a share of 5
    const SubscriberKey first = index.add_subscriber();
    const SubscriberKey second = index.add_subscriber();
    const auto count_of = [&](SubscriberKey key) {
        std::size_t count = 0;
        while (index.insert(key, std::to_string(count)) == Insert::added) {
            ++count;
        }
        return count;
    };
    CHECK(count_of(first) == 10);
    CHECK(count_of(second) == 5);
    index.remove_subscriber(first);
    CHECK(index.insert(second, "more") == Insert::added);
}

TEST_CASE("distinct prefixes together are bounded in bytes, and a shared one counts once",
          "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey subscriber = index.add_subscriber();
    const std::size_t fit = limits::subscription_bytes_total_max / limits::subscription_bytes_max;
    for (std::size_t number = 0; number < fit; ++number) {
        REQUIRE(index.insert(subscriber, numbered(number, limits::subscription_bytes_max)) == Insert::added);
    }
    const SubscriberKey other = index.add_subscriber();
    CHECK(index.insert(other, "x") == Insert::refused);
    CHECK(index.insert(other, numbered(0, limits::subscription_bytes_max)) == Insert::added);
    CHECK(index.erase(subscriber, numbered(1, limits::subscription_bytes_max)));
    CHECK(index.insert(other, "x") == Insert::added);
}

TEST_CASE("an index behaves like a set per subscriber for random operations", "[core][publisher][subscription]") {
    const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U);
    CAPTURE(seed);
    Pair pair(seed);
    for (int round = 0; round < 60; ++round) {
        for (int operation = 0; operation < 100; ++operation) {
            pair.operate();
        }
        pair.compare();
    }
}

TEST_CASE("long sequences of subscribing and canceling need no more memory than their peak",
          "[core][publisher][subscription]") {
    SubscriptionIndex index(wide);
    const SubscriberKey stays = index.add_subscriber();
    index.insert(stays, "stays");
    std::size_t peak = 0;
    for (std::size_t round = 0; round < 40; ++round) {
        const SubscriberKey subscriber = index.add_subscriber();
        const std::size_t bytes = 10 + round * 20;  // a different length each time
        const std::size_t count = 400'000 / (bytes + 64);
        for (std::size_t number = 0; number < count; ++number) {
            REQUIRE(index.insert(subscriber, numbered(number + round * 10'000, bytes)) == Insert::added);
        }
        for (std::size_t number = 0; number < count; number += 2) {
            REQUIRE(index.erase(subscriber, numbered(number + round * 10'000, bytes)));
        }
        if (round == 2) {
            peak = index.memory_bytes();
        }
        index.remove_subscriber(subscriber);
        REQUIRE((round < 3 || index.memory_bytes() <= peak));
    }
    CHECK(index.size() == 1);
    CHECK(index.memory_bytes() < 300 * 1024);
    CHECK(matched(index, "stays") == std::vector{stays});
}

TEST_CASE("removing a subscriber with all the prefixes frees their memory", "[core][publisher][subscription]") {
    constexpr std::size_t count = 50'000;
    SubscriptionIndex index(wide);
    const SubscriberKey stays = index.add_subscriber();
    const SubscriberKey leaves = index.add_subscriber();
    const std::size_t before = index.memory_bytes();
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(index.insert(leaves, numbered(number, 32)) == Insert::added);
    }
    CHECK(index.insert(stays, numbered(123, 32)) == Insert::added);
    CHECK(index.memory_bytes() - before < 200 * count);
    index.remove_subscriber(leaves);
    CHECK(index.size() == 1);
    CHECK(index.memory_bytes() - before < 300 * 1024);
    CHECK(matched(index, numbered(123, 32)) == std::vector{stays});
    CHECK_FALSE(index.matches(numbered(124, 32)));
}
