#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("connections over the limit are refused and counted until one disconnects", "[core][publisher][hostile]") {
    PublisherOptions options;
    options.sessions_max = 2;
    PublisherHarness h(options);
    const RawPeer first = h.subscriber();
    std::optional<RawPeer> second(h.subscriber());
    RawPeer refused = h.connect();
    CHECK(h.is_cut(refused));
    CHECK(refused.received().empty());
    CHECK(h.totals().connections_refused == 1);
    CHECK(h.totals().connections_accepted == 2);
    CHECK(h.reason() == "too many connections");
    second.reset();
    CHECK(h.turn_until([&] { return h.publisher->subscribers().size() == 1; }));
    CHECK(h.serves());
}

TEST_CASE("with too many unfinished handshakes the oldest is closed, so that silent peers block no others",
          "[core][publisher][hostile]") {
    PublisherOptions options;
    options.handshakes_max = 2;
    PublisherHarness h(options);
    RawPeer oldest = h.connect();
    REQUIRE(h.turn_until([&] { return h.totals().connections_accepted == 1; }));
    const RawPeer silent = h.connect();
    REQUIRE(h.turn_until([&] { return h.totals().connections_accepted == 2; }));
    const RawPeer served = h.subscriber();
    CHECK(h.is_cut(oldest));
    CHECK(h.reason() == "too many handshakes at once");
    CHECK(h.totals().handshakes_failed == 1);
    CHECK(h.totals().connections_refused == 0);
}

TEST_CASE("a failed handshake allows another one", "[core][publisher][hostile]") {
    PublisherOptions options;
    options.handshakes_max = 1;
    options.sessions_max = 1;
    PublisherHarness h(options);
    for (std::uint64_t failed = 1; failed <= 3; ++failed) {
        RawPeer peer = h.connect();
        peer.send("GET /");
        REQUIRE(h.turn_until([&] { return h.totals().handshakes_failed == failed; }));
    }
    CHECK(h.totals().connections_refused == 0);
    CHECK(h.serves());
}

TEST_CASE("an over-long subscription is refused and counted, and the session continues", "[core][publisher][hostile]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({"t"});
    peer.send(subscribe(std::string(limits::subscription_bytes_max + 1, 't')) +
              subscribe_3_0(std::string(60'000, 't')) + cancel_3_0(std::string(60'000, 't')) +
              subscribe(std::string(limits::subscription_bytes_max, 't')));
    CHECK(h.turn_until([&] { return h.last_status().subscriptions_count == 2; }));
    CHECK(h.totals().subscriptions_refused == 2);
    CHECK(h.departures.empty());
}

namespace {

std::string subscribe_to(int count) {
    std::string bytes;
    for (int number = 0; number < count; ++number) {
        bytes += subscribe("topic/" + std::to_string(number));
    }
    return bytes;
}

}  // namespace

TEST_CASE("a peer has 10,000 subscriptions", "[core][publisher][hostile]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({});
    std::string bytes = subscribe_to(10'000) + ping("done");
    CHECK(h.turn_until([&] { return peer.send(std::exchange(bytes, "")) && peer.read().ends_with(pong("done")); }));
    CHECK(h.last_status().subscriptions_count == 10'000);
    CHECK(h.last_status().subscriptions.size() < 100);
    CHECK(h.totals().subscriptions_refused == 0);
    CHECK(h.publisher->wanted(h.publisher->intern("topic/9999")));
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("topic=")));
}

TEST_CASE("a peer with more subscriptions than the limit is closed with the reason", "[core][publisher][hostile]") {
    PublisherOptions options;
    options.io_threads = GENERATE(std::size_t{1}, std::size_t{2});
    PublisherHarness h(options);
    RawPeer peer = h.subscriber({});
    std::string bytes = subscribe_to(10'002) + ping("done");
    CHECK(h.turn_until([&] {
        peer.send(std::exchange(bytes, ""));
        return peer.read().ends_with(pong("done")) || peer.at_end();
    }));
    CHECK(h.is_cut(peer));
    CHECK(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(h.reason() == "too many subscriptions");
    CHECK(h.totals().subscriptions_refused == 1);
    CHECK(h.totals().subscriptions == 0);
    CHECK(h.serves());
}

TEST_CASE("subscribers that subscribe to all they can leave every other subscriber its share",
          "[core][publisher][hostile]") {
    PublisherOptions options;
    options.sessions_max = 10;
    options.subscriptions_max = 2'000;  // a share of 100 for each
    PublisherHarness h(options);
    std::vector<RawPeer> greedy;
    for (int number = 0; number < 5; ++number) {
        greedy.push_back(h.subscriber({}));
        greedy.back().send(subscribe_to(400));
        h.turn();
    }
    REQUIRE(h.turn_until([&] { return h.departures.size() == 3; }));
    CHECK(h.totals().subscriptions == 800);
    for (int number = 0; number < 7; ++number) {
        greedy.push_back(h.subscriber({}));
        greedy.back().send(subscribe_to(100));
        REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 100; }));
    }
    CHECK(h.departures.size() == 3);
    greedy.back().send(subscribe("one more"));
    CHECK(h.is_cut(greedy.back()));
    CHECK(h.serves());
}
