#include "core/clock.hpp"
#include "core/publish/slow_bench.hpp"
#include "publish/lag_limit.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Returns the number of gaps in an ascending list of numbers.
std::size_t gaps_in(const Numbers& numbers) {
    std::size_t gaps = 0;
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        gaps += numbers[i] != numbers[i - 1] + 1 ? 1U : 0U;
    }
    return gaps;
}

Numbers without_notices(std::vector<Seen> stream) {
    std::erase_if(stream, [](const Seen& seen) { return seen.is_notice(); });
    return learned(stream);
}

}  // namespace

TEST_CASE("losses are counted by reason with their first and last time, and stay in the totals",
          "[core][publisher][policy]") {
    SlowBench bench;
    const std::int64_t before = SystemClock().utc_now_ns();
    {
        const RawPeer peer = bench.h.subscriber({"t"}, 4096);
        bench.publish_until_lost(100);
        const Losses slow = bench.h.last_status().losses[static_cast<std::size_t>(LossReason::slow)];
        CHECK(slow.count == bench.h.last_status().dropped);
        CHECK(slow.first_utc_ns >= before);
        CHECK(slow.last_utc_ns >= slow.first_utc_ns);
        CHECK(slow.last_utc_ns <= SystemClock().utc_now_ns());
    }
    CHECK(bench.h.turn_until([&] { return bench.h.publisher->subscribers().empty(); }));
    const PublisherTotals totals = bench.h.totals();
    CHECK(totals.lost[static_cast<std::size_t>(LossReason::slow)] >= 100);
    CHECK(totals.lost[static_cast<std::size_t>(LossReason::disconnected)] > 0);
    CHECK(totals.lost[0] + totals.lost[1] + totals.lost[2] + totals.lost[3] == totals.dropped);
    CHECK(totals.matched == totals.sent + totals.dropped);
}

TEST_CASE(
    "an endpoint's own limit applies to its current and future subscribers, and may be raised "
    "while they are slow",
    "[core][publisher][policy]") {
    SlowBench bench;
    const RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_oldest, 16 * 1024, 0ms});
    bench.publish_until_lost(20);
    CHECK(bench.h.last_status().backlog_bytes <= 16 * 1024);
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_oldest, 256 * 1024, 0ms});
    const std::uint64_t dropped = bench.h.last_status().dropped;
    for (int i = 0; i < 200; ++i) {
        bench.publish();
    }
    CHECK(bench.h.last_status().dropped == dropped);
    CHECK(bench.h.last_status().backlog_bytes > 128 * 1024);
    const RawPeer later = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(20);
    CHECK(bench.h.last_status().backlog_bytes > 200 * 1024);
    CHECK(bench.h.last_status().backlog_bytes <= 256 * 1024);
}

TEST_CASE("a subscriber with drop_newest receives the pending messages, then continues after one gap",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::drop_newest);
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(500);
    const std::uint64_t held = bench.h.last_status().backlog_bytes;
    CHECK(held > 32 * 1024);
    CHECK(held <= 64 * 1024);
    bench.read_all(peer);
    bench.publish();
    bench.publish();
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(bench.first_wrong(stream) == "");
    CHECK(gaps_in(without_notices(stream)) == 1);
    CHECK(bench.lost(LossReason::slow) == bench.h.last_status().dropped);
}

TEST_CASE("a slow subscriber with the disconnect policy is closed, and its pending messages are counted",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::disconnect);
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    for (int i = 0; i < 100'000 && bench.h.departures.empty(); ++i) {
        bench.publish();
    }
    CHECK(bench.h.reason() == "reads too slowly");
    const PeerStatus gone = bench.h.departures.front();
    CHECK(adds_up(gone));
    CHECK(gone.pending == 0);
    CHECK(gone.losses[static_cast<std::size_t>(LossReason::disconnected)].count == gone.dropped);
    CHECK(gone.dropped > 10);
    CHECK(bench.heard() == 0);
    CHECK(bench.h.is_cut(peer));
    CHECK(bench.h.serves());
}

TEST_CASE("within one iteration a subscriber with the disconnect policy keeps no memory", "[core][publisher][policy]") {
    SlowBench bench(small_backlog());
    bench.deliver(SlowPolicy::disconnect);
    const RawPeer peer = bench.h.subscriber({"t"}, 4096);
    for (int i = 0; i < 20'000; ++i) {
        bench.commit("t", 980);
    }
    CHECK(bench.h.last_status().backlog_bytes <= 64 * 1024);
    CHECK(bench.h.last_status().losses[static_cast<std::size_t>(LossReason::disconnected)].count > 10'000);
}

TEST_CASE("a publisher that waits as requested loses nothing for a blocking subscriber", "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::block);
    int told = 0;
    bench.h.publisher->set_on_room([&] { ++told; });
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    CHECK_FALSE(bench.h.publisher->must_wait());
    for (int i = 0; i < 100'000 && !bench.h.publisher->must_wait(); ++i) {
        bench.publish();
    }
    CHECK(bench.h.publisher->must_wait());
    CHECK(told == 0);
    CHECK(bench.h.turn_until([&] {
        peer.read();
        return told > 0;
    }));
    CHECK_FALSE(bench.h.publisher->must_wait());
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
    CHECK(bench.h.last_status().dropped == 0);
}

TEST_CASE("a publisher is notified when the blocking subscriber disconnects or its policy changes",
          "[core][publisher][policy]") {
    const bool leaves = GENERATE(true, false);
    SlowBench bench;
    bench.deliver(SlowPolicy::block);
    int told = 0;
    bench.h.publisher->set_on_room([&] { ++told; });
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    for (int i = 0; i < 100'000 && !bench.h.publisher->must_wait(); ++i) {
        bench.publish();
    }
    if (leaves) {
        peer.close();
    } else {
        bench.deliver(SlowPolicy::drop_oldest);
    }
    CHECK(bench.h.turn_until([&] { return told == 1; }));
    CHECK_FALSE(bench.h.publisher->must_wait());
}

TEST_CASE("if a publisher does not wait, a blocking subscriber loses its oldest messages",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::block);
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(10);
    CHECK(bench.h.last_status().backlog_bytes <= 64 * 1024 + limits::block_bytes_more);
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
}

TEST_CASE("a slow subscriber with conflate keeps the newest message of each topic, in order",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::conflate);
    RawPeer peer = bench.h.subscriber({""}, 4096);
    const std::vector<std::string> topics{"a", "b", "c", "d", "e"};
    for (int i = 0; i < 100'000 && bench.h.last_status().dropped < 3'000; ++i) {
        bench.publish(topics[bench.next % topics.size()]);
        REQUIRE(bench.h.last_status().backlog_bytes <= 64 * 1024 + 8192);
    }
    const std::vector<Seen> stream = bench.read_all(peer);
    const Numbers numbers = learned(stream);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(numbers.size() == bench.h.last_status().sent);
    CHECK(bench.lost(LossReason::conflated) == bench.h.last_status().dropped);
    CHECK(bench.heard() == 0);
    // The last messages that it receives are the newest of each topic.
    CHECK(Numbers(numbers.end() - 5, numbers.end()) ==
          Numbers{bench.next - 5, bench.next - 4, bench.next - 3, bench.next - 2, bench.next - 1});
}

TEST_CASE("conflated messages hold no part of the log", "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::conflate);
    const RawPeer peer = bench.h.subscriber({""}, 4096);
    bench.publish("rare", 100);
    bench.publish_until_lost(500, "often");
    CHECK(bench.h.last_status().pending < 100);
    for (int i = 0; i < 100; ++i) {
        bench.publish("often");
        REQUIRE(bench.h.last_status().backlog_bytes <= 16 * 1024);  // it conflates before its limit is reached
    }
}

TEST_CASE("a fast subscriber receives everything, whatever its policy and however small its limit",
          "[core][publisher][policy]") {
    const SlowPolicy policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest, SlowPolicy::disconnect,
                                       SlowPolicy::block, SlowPolicy::conflate);
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {policy, 1, 0ms});
    RawPeer peer = bench.h.subscriber({"t"});
    for (int batch = 0; batch < 50; ++batch) {
        for (int i = 0; i < 100; ++i) {  // several times its limit
            bench.commit("t", 980);
        }
        bench.h.publisher->flush();
        REQUIRE(bench.h.turn_until([&] { return peer.read().size() == bench.h.last_status().bytes_sent; }));
    }
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
    CHECK(bench.h.last_status().dropped == 0);
}

TEST_CASE("a subscriber slightly over its limit drops messages after the flush, and delays no other subscriber",
          "[core][publisher][policy]") {
    SlowBench bench(small_backlog());
    const RawPeer peer = bench.h.subscriber({"t"}, 4096);
    while (bench.next < 100'000 && bench.h.last_status().dropped < 100) {
        const std::uint64_t dropped = bench.h.last_status().dropped;
        bench.commit("t", 980);
        bench.h.publisher->flush();
        REQUIRE(bench.h.last_status().dropped == dropped);
        bench.h.turn();
        REQUIRE(bench.h.last_status().backlog_bytes <= 64 * 1024);
    }
    CHECK(bench.h.last_status().dropped >= 100);
}

TEST_CASE("messages older than the age limit are dropped, and newer ones are not", "[core][publisher][policy]") {
    const SlowPolicy policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest, SlowPolicy::conflate);
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {policy, 1024 * 1024, 200ms});
    RawPeer peer = bench.h.subscriber({""}, 4096);
    for (int i = 0; i < 100'000 && bench.h.last_status().pending < 20; ++i) {
        bench.publish("t" + std::to_string(i), 900);
    }
    REQUIRE(bench.h.turn_until([&] { return bench.lost(LossReason::expired) > 0; }));
    bench.publish("young", 100);
    CHECK(bench.lost(LossReason::expired) > 0);
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(stream.back().topic == "young");
    CHECK(bench.first_wrong(stream) == "");
    CHECK(bench.heard() == bench.lost(LossReason::expired));
}

TEST_CASE("of a range that is partly older than the age limit, the newer part is kept", "[core][publisher][policy]") {
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_oldest, 1024 * 1024, 1000ms});
    RawPeer peer = bench.h.subscriber({""}, 4096);
    for (int i = 0; i < 100'000 && bench.h.last_status().pending < 3; ++i) {
        bench.publish("t", 900);
    }
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(bench.h.turn_until([&] { return std::chrono::steady_clock::now() - begin > 400ms; }));
    const std::uint64_t young = bench.publish("t", 10);  // probably in the same segment
    CHECK(bench.h.turn_until([&] { return bench.lost(LossReason::expired) > 0; }));
    CHECK(std::chrono::steady_clock::now() - begin >= 1000ms);
    CHECK(bench.h.last_status().pending >= 1);
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(number_in(stream.back().payload) == young);
    CHECK_FALSE(stream.back().is_notice());
}

TEST_CASE("a message for one subscriber is sent after the earlier messages for it", "[core][publisher][policy]") {
    SlowBench bench;
    RawPeer one = bench.h.subscriber({"t"});
    RawPeer other = bench.h.subscriber({"t"});
    const std::uint64_t id = bench.h.last_status().id;
    bench.h.commit("t", "0");
    CHECK(bench.h.publisher->send_to(id, "u", "1"));
    CHECK_FALSE(bench.h.publisher->send_to(id + 1, "u", "1"));
    bench.h.commit("t", "2");
    bench.h.publisher->flush();
    CHECK(bench.h.turn_until(
        [&] { return other.read() == publisher_hello() + message("t", "0") + message("u", "1") + message("t", "2"); }));
    CHECK(bench.h.turn_until([&] { return one.read() == publisher_hello() + message("t", "0") + message("t", "2"); }));
    CHECK(bench.h.last_status().sent == 3);
    CHECK(bench.adds_up());
}

TEST_CASE("a message for one subscriber that is over its limit is refused and counted", "[core][publisher][policy]") {
    SlowBench bench;
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    const std::uint64_t id = bench.h.last_status().id;
    while (bench.lost(LossReason::slow) == 0) {
        const SampleRange samples{SlowBench::direct_channel, bench.next, bench.next};
        bench.next += bench.h.publisher->send_to(id, "u", SlowBench::payload(bench.next, 1000), samples) ? 1U : 0U;
        bench.h.turn();
        REQUIRE(bench.next < 100'000);
    }
    bench.next -= bench.refused();  // by another thread, after send_to() had returned true
    CHECK(bench.lost(LossReason::slow) == 1);
    CHECK(bench.heard() == 0);
    CHECK(bench.adds_up());
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
}

TEST_CASE("an invalid delivery is refused, naming the option", "[core][publisher][policy]") {
    PublisherHarness h;
    CHECK_THROWS_WITH(h.publisher->set_delivery(h.endpoint, {SlowPolicy::block, 0}),
                      "invalid backlog_bytes_max 0: must be 1 to 1073741824");
    CHECK_THROWS_WITH(h.publisher->set_delivery(h.endpoint, {SlowPolicy::block, 100'000, -1ms}),
                      "invalid backlog_age_max -1 ms: must be 0 ms or 1 ms to 86400000 ms");
}

TEST_CASE("of many subscribers that read nothing, the client with the most loses its newest",
          "[core][publisher][slow][shares]") {
    SlowBench bench(small_backlog());
    bench.h.source = "127.0.0.3";
    RawPeer other = bench.h.subscriber({"t"}, 4'096);  // reads nothing either
    bench.h.source = "127.0.0.2";
    std::vector<RawPeer> stalled;
    for (std::size_t number = 0; number < LagLimit::slow_max + 2; ++number) {
        stalled.push_back(bench.h.subscriber({"t"}, 4'096));
    }
    for (int round = 0; round < 1'000 && bench.h.publisher->subscribers().size() > LagLimit::slow_max; ++round) {
        for (int i = 0; i < 64; ++i) {
            bench.commit("t", 980);
        }
        bench.h.publisher->flush();
        bench.h.turn();
    }
    CHECK(bench.h.publisher->subscribers().size() == LagLimit::slow_max);
    CHECK(bench.h.reason() == "too many slow subscribers");
    CHECK(bench.h.is_cut(stalled.back()));
    CHECK(bench.adds_up());
    (void)other.read(1);
    CHECK_FALSE(other.at_end());
}
