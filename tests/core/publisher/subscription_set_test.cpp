#include "subscription_set.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"

using namespace telegate;
using Insert = SubscriptionSet::Insert;

TEST_CASE("a set without prefixes matches nothing, not even the empty topic", "[core][publisher][subscription]") {
    std::size_t total = 0;
    const SubscriptionSet set(total);
    CHECK_FALSE(set.matches("host/cpu"));
    CHECK_FALSE(set.matches(""));
}

TEST_CASE("a prefix matches what begins with it", "[core][publisher][subscription]") {
    auto [prefix, topic, matches] = GENERATE(table<std::string, std::string, bool>({
        {"", "", true},
        {"", "host/cpu", true},
        {"host", "host/cpu", true},
        {"host/cpu", "host/cpu", true},
        {"host/cpu", "host/cpu.user", true},
        {"host/cpu", "host/cp", false},
        {"ost", "host/cpu", false},
        {"Host", "host/cpu", false},
        {std::string("h\0", 2), std::string("h\0st", 4), true},
        {std::string("h\0", 2), "host", false},
    }));
    CAPTURE(prefix, topic);
    std::size_t total = 0;
    SubscriptionSet set(total);
    CHECK(set.insert(prefix) == Insert::added);
    CHECK(set.matches(topic) == matches);
}

TEST_CASE("a prefix is there once however often it was inserted", "[core][publisher][subscription]") {
    std::size_t total = 0;
    SubscriptionSet set(total);
    CHECK(set.insert("a") == Insert::added);
    CHECK(set.insert("a") == Insert::known);
    CHECK(set.size() == 1);
    CHECK(set.erase("a"));
    CHECK_FALSE(set.erase("a"));
    CHECK_FALSE(set.matches("abc"));
}

TEST_CASE("a shorter prefix goes on matching when the longer one is gone", "[core][publisher][subscription]") {
    std::size_t total = 0;
    SubscriptionSet set(total);
    set.insert("host/cpu");
    set.insert("host");
    set.erase("host/cpu");
    CHECK(set.matches("host/cpu"));
    set.erase("host");
    CHECK_FALSE(set.matches("host/cpu"));
}

TEST_CASE("a prefix over its limit is refused", "[core][publisher][subscription]") {
    std::size_t total = 0;
    SubscriptionSet set(total);
    CHECK(set.insert(std::string(limits::subscription_bytes_max, 'p')) == Insert::added);
    CHECK(set.insert(std::string(limits::subscription_bytes_max + 1, 'q')) == Insert::refused);
    CHECK(set.size() == 1);
}

TEST_CASE("a full set refuses new prefixes, knows the old ones, and takes one when one leaves",
          "[core][publisher][subscription]") {
    std::size_t total = 0;
    SubscriptionSet set(total);
    for (std::size_t index = 0; index < limits::subscriptions_per_peer_max; ++index) {
        REQUIRE(set.insert(std::to_string(index)) == Insert::added);
    }
    CHECK(set.insert("one more") == Insert::refused);
    CHECK(set.insert("7") == Insert::known);
    CHECK(set.erase("7"));
    CHECK(set.insert("one more") == Insert::added);
}

TEST_CASE("all prefixes together are bounded in bytes, and cancelled ones give their bytes back",
          "[core][publisher][subscription]") {
    std::size_t total = 0;
    SubscriptionSet set(total);
    const auto prefix = [](std::size_t index) {
        std::string text = std::to_string(index);
        return text + std::string(limits::subscription_bytes_max - text.size(), '.');
    };
    const std::size_t fit = limits::subscription_bytes_per_peer_max / limits::subscription_bytes_max;
    for (std::size_t index = 0; index < fit; ++index) {
        REQUIRE(set.insert(prefix(index)) == Insert::added);
    }
    CHECK(set.insert("x") == Insert::refused);
    CHECK(set.insert("") == Insert::added);
    CHECK(set.erase(prefix(0)));
    CHECK(set.insert("x") == Insert::added);
}

TEST_CASE("people are shown a few prefixes, sorted", "[core][publisher][subscription]") {
    std::size_t total = 0;
    SubscriptionSet set(total);
    set.insert("b");
    set.insert("a");
    CHECK(set.some(10) == std::vector<std::string>{"a", "b"});
    CHECK(set.some(1).size() == 1);
    CHECK(set.some(0).empty());
}

TEST_CASE("all sets together have a limit, and a set that goes gives its share back",
          "[core][publisher][subscription]") {
    std::size_t total = limits::subscriptions_max - 2;
    {
        SubscriptionSet set(total);
        CHECK(set.insert("a") == Insert::added);
        CHECK(set.insert("b") == Insert::added);
        CHECK(set.insert("c") == Insert::refused);
        CHECK(set.erase("a"));
        CHECK(set.insert("c") == Insert::added);
        CHECK(total == limits::subscriptions_max);
    }
    CHECK(total == limits::subscriptions_max - 2);
}
