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

TEST_CASE("a client with all connections makes way for other clients until all have as many",
          "[core][publisher][hostile][shares]") {
    PublisherOptions options;
    options.sessions_max = 4;
    PublisherHarness h(options);
    h.source = "127.0.0.2";
    std::vector<RawPeer> many;
    for (int number = 0; number < 4; ++number) {
        many.push_back(h.subscriber());
    }
    REQUIRE(h.publisher->crowd());
    CHECK(h.publisher->crowd()->client == "127.0.0.2");
    CHECK(h.publisher->crowd()->of_client == 4);
    h.source = "127.0.0.3";
    std::vector<RawPeer> others;
    others.push_back(h.subscriber());
    CHECK(h.is_cut(many[0]));  // none has received anything: the oldest
    others.push_back(h.subscriber());
    CHECK(h.is_cut(many[1]));
    CHECK(h.reason() == "too many connections from its address");
    RawPeer refused = h.connect();
    CHECK(h.is_cut(refused));
    CHECK(h.publisher->crowd()->of_client == 2);
    CHECK(h.totals().connections_refused == 1);
}

TEST_CASE("a client that reconnects without pause displaces its own handshakes, never those of other clients",
          "[core][publisher][hostile][shares]") {
    const bool by_handshakes = GENERATE(false, true);
    PublisherOptions options;
    (by_handshakes ? options.handshakes_max : options.sessions_max) = 4;
    PublisherHarness h(options);
    std::uint64_t connects = 0;
    const auto connect_from = [&](const char* source) {
        h.source = source;
        RawPeer peer = h.connect();
        CHECK(h.turn_until([&] { return h.totals().connections_accepted == connects + 1; }));
        ++connects;
        return peer;
    };
    std::vector<RawPeer> many;
    for (int number = 0; number < 4; ++number) {
        many.push_back(connect_from("127.0.0.2"));
    }
    RawPeer other = connect_from("127.0.0.3");
    for (int number = 0; number < 8; ++number) {
        many.push_back(connect_from("127.0.0.2"));
    }
    other.send(greeting() + ready("SUB") + subscribe("a"));
    CHECK(h.turn_until(
        [&] { return h.publisher->subscribers().size() > 0 && h.last_status().subscriptions_count == 1; }));
}

TEST_CASE("of a client that makes way, subscribers that have received messages stay longest",
          "[core][publisher][hostile][shares]") {
    PublisherOptions options;
    options.sessions_max = 3;
    PublisherHarness h(options);
    h.source = "127.0.0.2";
    RawPeer useful = h.subscriber({"a"});
    RawPeer idle = h.subscriber({"b"});
    const RawPeer also_useful = h.subscriber({"a"});
    h.publish("a", "x");
    REQUIRE(h.turn_until([&] { return h.totals().sent == 2; }));
    h.source = "127.0.0.3";
    const RawPeer other = h.subscriber({"a"});
    CHECK(h.is_cut(idle));
    h.turn();
    useful.read();
    CHECK_FALSE(useful.at_end());
}

TEST_CASE("an idle connection makes way for a new one of the same client", "[core][publisher][hostile][shares]") {
    PublisherOptions options;
    options.sessions_max = 2;
    PublisherHarness h(options);
    const std::vector<RawPeer> idle = [&] {
        std::vector<RawPeer> peers;
        peers.push_back(h.subscriber());
        peers.push_back(h.subscriber());
        return peers;
    }();
    std::vector<RawPeer> refused;
    CHECK(h.turn_until([&] {
        refused.push_back(h.connect());
        h.turn();
        return h.totals().connections_accepted == 3;
    }));
    CHECK(h.reason() == "too many connections from its address");
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
