#include "core/publish/slow_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

// Messages that are copied for one subscriber keep the samples that were published with them, so that a later loss of
// the copy names exactly these.

namespace {

/// Publishes so many topics that the newest messages alone exceed the limit of a subscriber. Returns the topic of each
/// number.
std::vector<std::string> publish_rounds(SlowBench& bench, int rounds, int topics) {
    std::vector<std::string> topic_of;
    for (int round = 0; round < rounds; ++round) {
        for (int number = 0; number < topics; ++number) {
            topic_of.push_back("t" + std::to_string(number));
            bench.publish(topic_of.back());
        }
    }
    return topic_of;
}

/// Returns "" if each number was received or reported once, except for older ones of the same topic than one that was.
std::string first_wrong_conflated(const Numbers& numbers, const std::vector<std::string>& topic_of) {
    std::map<std::string, std::uint64_t> newest;
    for (const std::uint64_t number : numbers) {
        std::uint64_t& newest_of_topic = newest[topic_of.at(static_cast<std::size_t>(number))];
        newest_of_topic = std::max(newest_of_topic, number);
    }
    for (std::size_t number = 0; number < topic_of.size(); ++number) {
        const auto count = std::count(numbers.begin(), numbers.end(), number);
        if (count > 1 || (count == 0 && newest[topic_of[number]] <= number)) {
            return std::to_string(number) + " of " + topic_of[number] + " is there " + std::to_string(count) + " times";
        }
    }
    return "";
}

}  // namespace

TEST_CASE("conflated copies that exceed the limit are reported with their own samples", "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::conflate);
    RawPeer peer = bench.h.subscriber({""}, 4096);
    bench.publish_until_lost(1, "full");  // the stream accepts no more, so everything else is conflated
    std::vector<std::string> topic_of(bench.next, "full");
    const std::vector<std::string> more = publish_rounds(bench, 3, 300);
    topic_of.insert(topic_of.end(), more.begin(), more.end());
    REQUIRE(bench.h.turn_until([&] { return bench.lost(LossReason::slow) > 100; }));
    const Numbers numbers = learned(bench.read_all(peer));
    CHECK(bench.heard() == bench.lost(LossReason::slow));
    CHECK(numbers.size() + bench.lost(LossReason::conflated) == bench.next);
    CHECK(first_wrong_conflated(numbers, topic_of) == "");
}

TEST_CASE("messages without samples do not shift the samples of other conflated copies", "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::conflate);
    RawPeer peer = bench.h.subscriber({""}, 4096);
    bench.publish_until_lost(1, "full");
    std::vector<std::string> topic_of(bench.next, "full");
    for (int number = 0; number < 600; ++number) {
        bench.h.publisher->send("plain" + std::to_string(number / 2), std::string(100, 'x'));
        topic_of.push_back("t" + std::to_string(number));
        bench.publish(topic_of.back());
    }
    REQUIRE(bench.h.turn_until([&] { return bench.lost(LossReason::slow) > 100; }));
    std::vector<Seen> stream = bench.read_all(peer);
    std::erase_if(stream, [](const Seen& seen) { return seen.topic.starts_with("plain"); });
    CHECK(first_wrong_conflated(learned(stream), topic_of) == "");
}

TEST_CASE("conflated copies that are too old are reported with their own samples", "[core][publisher][policy]") {
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::conflate, 1024 * 1024, 500ms});
    RawPeer peer = bench.h.subscriber({""}, 4096);
    bench.publish_until_lost(1, "full");
    std::vector<std::string> topic_of(bench.next, "full");
    const std::vector<std::string> more = publish_rounds(bench, 2, 20);
    topic_of.insert(topic_of.end(), more.begin(), more.end());
    REQUIRE(bench.h.turn_until([&] { return bench.lost(LossReason::expired) >= 20; }));
    const Numbers numbers = learned(bench.read_all(peer));
    CHECK(bench.heard() == bench.lost(LossReason::expired));
    CHECK(numbers.size() + bench.lost(LossReason::conflated) == bench.next);
    CHECK(first_wrong_conflated(numbers, topic_of) == "");
}

TEST_CASE("messages for one subscriber that are too old are reported with their own samples",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.numbers_per_notice = 1;  // each notice has the topic of its message
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_oldest, 1024 * 1024, 500ms});
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    const std::uint64_t id = bench.h.last_status().id;
    for (int i = 0; i < 100'000 && bench.h.last_status().pending < 20; ++i) {
        REQUIRE(bench.send_to(id));
        bench.publish();
    }
    REQUIRE(bench.h.turn_until([&] { return bench.lost(LossReason::expired) >= 20; }));
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(bench.refused() == 0);
    CHECK(bench.misplaced() == 0);
    CHECK(bench.heard() == bench.lost(LossReason::expired));
    CHECK(bench.first_wrong(stream) == "");
    CHECK(std::any_of(stream.begin(), stream.end(), [](const Seen& seen) {
        return seen.is_notice() && seen.topic.starts_with(SlowBench::direct_topic);
    }));
}

TEST_CASE("messages for one subscriber that are conflated and then dropped are reported with their own samples",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::conflate);
    RawPeer peer = bench.h.subscriber({""}, 4096);
    const std::uint64_t id = bench.h.last_status().id;
    bench.publish_until_lost(1, "full");
    std::vector<std::string> topic_of(bench.next, "full");
    REQUIRE(bench.send_to(id));
    topic_of.emplace_back(SlowBench::direct_topic);
    const std::vector<std::string> more = publish_rounds(bench, 2, 300);
    topic_of.insert(topic_of.end(), more.begin(), more.end());
    REQUIRE(bench.h.turn_until([&] { return bench.lost(LossReason::slow) > 100; }));
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(bench.heard() == bench.lost(LossReason::slow));
    CHECK(first_wrong_conflated(learned(stream), topic_of) == "");
    CHECK(std::none_of(stream.begin(), stream.end(),
                       [](const Seen& seen) { return seen.topic == SlowBench::direct_topic; }));
}
