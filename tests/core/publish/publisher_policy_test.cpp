#include "core/clock.hpp"
#include "core/publish/slow_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Gaps in a rising list of numbers.
std::size_t gaps_in(const Numbers& numbers) {
    std::size_t gaps = 0;
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        gaps += numbers[i] != numbers[i - 1] + 1 ? 1U : 0U;
    }
    return gaps;
}

Numbers without_notices(std::vector<Seen> stream) {
    std::erase_if(stream, [](const Seen& seen) { return seen.is_notice(); });
    return learnt(stream);
}

}  // namespace

TEST_CASE("losses are counted by reason, with the first and the last time, and stay in the totals",
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

TEST_CASE("an endpoint's own limit holds for its subscribers, now and later, and may be raised while they are slow",
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

TEST_CASE("a subscriber that loses its newest gets what waited, then goes on, with one gap",
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

TEST_CASE("a subscriber that is to be disconnected when it is slow is closed, and what waited is counted",
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
    CHECK(bench.heard.empty());
    CHECK(bench.h.is_cut(peer));
    CHECK(bench.h.serves());
}

TEST_CASE("within one call a subscriber that is to be disconnected keeps no memory", "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::disconnect);
    const RawPeer peer = bench.h.subscriber({"t"}, 4096);
    for (int i = 0; i < 20'000; ++i) {
        bench.h.commit("t", SlowBench::payload(bench.next++, 1000));
    }
    CHECK(bench.h.last_status().backlog_bytes <= 64 * 1024);
    CHECK(bench.h.last_status().losses[static_cast<std::size_t>(LossReason::disconnected)].count > 10'000);
}

TEST_CASE("a publisher that waits while it must loses nothing for a subscriber that blocks",
          "[core][publisher][policy]") {
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

TEST_CASE("a publisher hears that it need not wait when the one that blocked it leaves, or its policy changes",
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

TEST_CASE("a publisher that does not wait makes a subscriber that blocks lose its oldest",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::block);
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(10);
    CHECK(bench.h.last_status().backlog_bytes <= 64 * 1024 + limits::block_bytes_more);
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
}

TEST_CASE("a subscriber that is slow is left with the newest message of each topic, in order",
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
    const Numbers numbers = learnt(stream);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(numbers.size() == bench.h.last_status().sent);
    CHECK(bench.lost(LossReason::conflated) == bench.h.last_status().dropped);
    CHECK(bench.heard.empty());
    // What it got last is the newest of each.
    CHECK(Numbers(numbers.end() - 5, numbers.end()) ==
          Numbers{bench.next - 5, bench.next - 4, bench.next - 3, bench.next - 2, bench.next - 1});
}

TEST_CASE("what is conflated holds no part of the log", "[core][publisher][policy]") {
    SlowBench bench;
    bench.deliver(SlowPolicy::conflate);
    const RawPeer peer = bench.h.subscriber({""}, 4096);
    bench.publish("rare", 100);
    bench.publish_until_lost(500, "often");
    CHECK(bench.h.last_status().pending < 100);
    for (int i = 0; i < 100; ++i) {
        bench.publish("often");
        REQUIRE(bench.h.last_status().backlog_bytes <= 16 * 1024);  // it does not wait until its limit is reached
    }
}

TEST_CASE("a fast subscriber gets everything, whatever its policy and however small its limit",
          "[core][publisher][policy]") {
    const SlowPolicy policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest, SlowPolicy::disconnect,
                                       SlowPolicy::block, SlowPolicy::conflate);
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {policy, 1, 0ms});
    RawPeer peer = bench.h.subscriber({"t"});
    for (int batch = 0; batch < 50; ++batch) {
        for (int i = 0; i < 100; ++i) {  // several times its limit
            bench.h.commit("t", SlowBench::payload(bench.next++, 1000));
        }
        bench.h.publisher->flush();
        REQUIRE(bench.h.turn_until([&] { return peer.read().size() == bench.h.last_status().bytes_sent; }));
    }
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
    CHECK(bench.h.last_status().dropped == 0);
}

TEST_CASE("a subscriber that is hardly over its limit gives up behind what is flushed, and delays nothing",
          "[core][publisher][policy]") {
    SlowBench bench;
    const RawPeer peer = bench.h.subscriber({"t"}, 4096);
    while (bench.next < 100'000 && bench.h.last_status().dropped < 100) {
        const std::uint64_t dropped = bench.h.last_status().dropped;
        bench.h.commit("t", SlowBench::payload(bench.next++, 1000));
        bench.h.publisher->flush();
        REQUIRE(bench.h.last_status().dropped == dropped);
        bench.h.turn();
        REQUIRE(bench.h.last_status().backlog_bytes <= 64 * 1024);
    }
    CHECK(bench.h.last_status().dropped >= 100);
}

TEST_CASE("what has waited for too long is given up, and what is younger is not", "[core][publisher][policy]") {
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
    CHECK(bench.heard.begin()->second == bench.lost(LossReason::expired));
}

TEST_CASE("nothing of a run that is younger than the limit in age is given up with the rest of it",
          "[core][publisher][policy]") {
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_oldest, 1024 * 1024, 1000ms});
    RawPeer peer = bench.h.subscriber({""}, 4096);
    for (int i = 0; i < 100'000 && bench.h.last_status().pending < 3; ++i) {
        bench.publish("t", 900);
    }
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(bench.h.turn_until([&] { return std::chrono::steady_clock::now() - begin > 400ms; }));
    const std::uint64_t young = bench.publish("t", 10);  // in the same segment, as like as not
    CHECK(bench.h.turn_until([&] { return bench.lost(LossReason::expired) > 0; }));
    CHECK(std::chrono::steady_clock::now() - begin >= 1000ms);
    CHECK(bench.h.last_status().pending >= 1);
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(number_in(stream.back().payload) == young);
    CHECK_FALSE(stream.back().is_notice());
}

TEST_CASE("one subscriber can be sent a message of its own, behind what it has got", "[core][publisher][policy]") {
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

TEST_CASE("a message for one subscriber that is over its limit is refused, and counted", "[core][publisher][policy]") {
    SlowBench bench;
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    const std::uint64_t id = bench.h.last_status().id;
    int given = 0;
    while (bench.h.publisher->send_to(id, "u", SlowBench::payload(bench.next, 1000))) {
        ++given;
        ++bench.next;
        bench.h.turn();
        REQUIRE(given < 100'000);
    }
    CHECK(bench.lost(LossReason::slow) == 1);
    CHECK(bench.heard.empty());
    CHECK(bench.adds_up());
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
}

TEST_CASE("with several threads what needs one is refused in plain words", "[core][publisher][policy]") {
    PublisherOptions options;
    options.io_threads = 2;
    PublisherHarness h(options);
    CHECK_NOTHROW(h.publisher->set_delivery(h.endpoint, Delivery{}));
    CHECK_THROWS_WITH(h.publisher->set_delivery(h.endpoint, {SlowPolicy::conflate}),
                      "io_threads is 2; allowed with set_delivery() is 1");
    CHECK_THROWS_WITH(h.publisher->send_to(1, "t", "x"), "io_threads is 2; allowed with send_to() is 1");
    options.loss_hooks.tell = [](std::uint64_t, NoticeWriter&) {
        return false;
    };
    CHECK_THROWS_WITH(Publisher(h.reactor, options), "io_threads is 2; allowed with loss_hooks is 1");
}

TEST_CASE("a delivery that is out of bounds is refused by name", "[core][publisher][policy]") {
    PublisherHarness h;
    CHECK_THROWS_WITH(h.publisher->set_delivery(h.endpoint, {SlowPolicy::block, 0}),
                      "backlog_bytes_max is 0; allowed are 1 to 1073741824");
    CHECK_THROWS_WITH(h.publisher->set_delivery(h.endpoint, {SlowPolicy::block, 100'000, -1ms}),
                      "backlog_age_max is -1 ms; allowed are 0 and 1 ms to 86400000 ms");
}
