#include "core/publish/published.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <stdexcept>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Closes the publisher and counts the calls of `done`.
struct Closing {
    Closing(PublisherHarness& harness, std::chrono::milliseconds grace) {
        harness.publisher->close(grace, [this] { ++done; });
    }
    int done = 0;
};

bool can_connect(const Endpoint& endpoint) {
    try {
        const RawPeer peer(endpoint);
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace

TEST_CASE("closing without subscribers is done in the next iteration", "[core][publisher][close]") {
    PublisherHarness h;
    Closing closing(h, 10s);
    CHECK(closing.done == 0);
    h.turn();
    CHECK(closing.done == 1);
    CHECK_FALSE(can_connect(h.endpoint));
}

TEST_CASE("closing delivers pending messages and ends the stream, whether or not the peer closes its side",
          "[core][publisher][close]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const bool peer_closes = GENERATE(true, false);
    CAPTURE(peer_closes);
    PublisherHarness h({}, transport);
    RawPeer peer = h.subscriber({""}, 4096);
    h.publish("large", sixteen_megabytes);
    h.commit("last", "not yet flushed");
    REQUIRE(h.last_status().pending == 2);
    Closing closing(h, 1h);
    CHECK_FALSE(can_connect(h.endpoint));
    CHECK(h.turn_until([&] {
        peer.read();
        return peer.at_end();
    }));
    CHECK(peer.received() ==
          publisher_hello() + message("large", sixteen_megabytes) + message("last", "not yet flushed"));
    CHECK((closing.done == 1 || h.last_status().sent == 2));

    if (peer_closes) {
        peer.close();
    }
    CHECK(h.turn_until([&] { return closing.done == 1; }));
    CHECK(h.departures.at(0).sent == 2);
    CHECK(h.totals().dropped == 0);
    h.turn();
    CHECK(closing.done == 1);
}

TEST_CASE("closing sends messages that were committed but not flushed", "[core][publisher][close]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    h.commit("t", "x");
    Closing closing(h, 60s);
    CHECK(h.is_cut(peer));
    CHECK(peer.received() == publisher_hello() + message("t", "x"));
}

TEST_CASE("messages that a peer does not read within the grace period are dropped and counted",
          "[core][publisher][close]") {
    PublisherHarness h;
    const RawPeer peer = h.subscriber({""}, 4096);
    h.publish("large", sixteen_megabytes);
    h.commit("t", "x");
    Closing closing(h, 20ms);
    h.turn();
    CHECK(closing.done == 0);
    CHECK(h.turn_until([&] { return closing.done == 1; }));
    CHECK(h.reason() == "did not read in time");
    CHECK(h.departures.at(0).dropped == 2);
    CHECK(h.totals().dropped == 2);
    CHECK(h.totals().pending == 0);
    CHECK(adds_up(h.totals()));
}

TEST_CASE("a peer that has received everything but does not close its side is closed after the grace period",
          "[core][publisher][close]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    h.publish("t", "x");
    Closing closing(h, 20ms);
    CHECK(h.turn_until([&] { return closing.done == 1; }));
    CHECK(h.totals().sent == 1);
    CHECK(h.totals().dropped == 0);
    peer.read();
    CHECK(peer.received() == publisher_hello() + message("t", "x"));
}

TEST_CASE("a slow peer does not delay the end of other connections", "[core][publisher][close]") {
    PublisherHarness h;
    const RawPeer slow = h.subscriber({""}, 4096);
    RawPeer fast = h.subscriber({"t"});
    h.publish("large", sixteen_megabytes);
    h.publish("t", "x");
    Closing closing(h, 60s);
    CHECK(h.turn_until([&] {
        fast.read();
        return fast.at_end();
    }));
    fast.close();
    CHECK(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(closing.done == 0);
}

TEST_CASE("close does not wait for a peer in its handshake", "[core][publisher][close]") {
    PublisherHarness h;
    RawPeer peer = h.connect();
    REQUIRE(h.turn_until([&] { return h.totals().connections_accepted == 1; }));
    Closing closing(h, 60s);
    CHECK(h.turn_until([&] { return closing.done == 1; }));
    peer.read();
    CHECK(peer.at_end());
}

TEST_CASE("messages published after close are not delivered", "[core][publisher][close]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    h.publish("t", "before");
    Closing closing(h, 60s);
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("t")));
    h.publish("t", "after");
    REQUIRE(h.is_cut(peer));
    CHECK(peer.received() == publisher_hello() + message("t", "before"));
    CHECK(h.totals().matched == 1);
    CHECK(adds_up(h.totals()));
}

TEST_CASE("a publisher may be destroyed between close and the end of the grace period", "[core][publisher][close]") {
    PublisherHarness h;
    const RawPeer peer = h.subscriber();
    Closing closing(h, 0ms);
    h.reactor.post([&h] { h.publisher.reset(); });  // runs before the timer's handler, which is ready by then
    h.turn();
    h.turn();
    CHECK(h.departures.empty());
    CHECK(closing.done == 0);
}

TEST_CASE("a second close shortens the grace period, and each callback is called once", "[core][publisher][close]") {
    PublisherHarness h;
    const RawPeer peer = h.subscriber();
    const Closing first(h, 60s);
    const Closing second(h, 10ms);
    const Closing third(h, 60s);
    CHECK(h.turn_until([&] { return first.done + second.done + third.done == 3; }));
    CHECK(h.reason() == "did not read in time");
    const Closing late(h, 60s);
    CHECK(h.turn_until([&] { return late.done == 1; }));
    CHECK(first.done + second.done + third.done == 3);
}

TEST_CASE("no callback is called after one of them has destroyed the publisher", "[core][publisher][close]") {
    PublisherHarness h;
    int late = 0;
    h.publisher->close(0ms, [&h] { h.publisher.reset(); });
    h.publisher->close(0ms, [&late] { ++late; });
    h.turn();
    h.turn();
    CHECK(h.publisher == nullptr);
    CHECK(late == 0);
}

TEST_CASE("a callback of close that throws does not prevent the others", "[core][publisher][close]") {
    PublisherHarness h;
    h.publisher->close(0ms, [] { throw std::runtime_error("once"); });
    const Closing second(h, 0ms);
    CHECK_THROWS_AS(h.turn(), std::runtime_error);
    h.turn();
    CHECK(second.done == 1);
}

TEST_CASE("bind and connect fail after close", "[core][publisher][close]") {
    PublisherHarness h;
    h.publisher->close(0ms, {});
    CHECK_THROWS_AS(h.publisher->bind({Transport::tcp, "127.0.0.1", 0, ""}), std::logic_error);
    CHECK_THROWS_AS(h.publisher->connect({Transport::tcp, "127.0.0.1", 9, ""}), std::logic_error);
    CHECK(h.publisher->endpoints().empty());
}

TEST_CASE("close needs no callback, and its callback may destroy the publisher", "[core][publisher][close]") {
    PublisherHarness h;
    h.publisher->close(0ms, {});
    h.turn();
    h.publisher->close(0ms, [&h] { h.publisher.reset(); });
    CHECK(h.turn_until([&] { return h.publisher == nullptr; }));
}

TEST_CASE("one subscriber can be closed by its id, and the others continue", "[core][publisher][close]") {
    PublisherHarness h;
    RawPeer first = h.subscriber();
    RawPeer second = h.subscriber();
    const std::uint64_t id = h.publisher->subscribers().front().id;
    CHECK(h.publisher->close_peer(id));
    CHECK(h.is_cut(first));
    CHECK(h.reason() == "closed on request");
    CHECK_FALSE(h.publisher->close_peer(id));
    CHECK_FALSE(h.publisher->close_peer(77));
    h.publish("a", "x");
    CHECK(h.turn_until([&] { return second.read() == publisher_hello() + message("a", "x"); }));
}

TEST_CASE("messages pending for a subscriber that is closed count as dropped", "[core][publisher][close]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({""}, 4'096);
    h.commit("a", std::string(1'000'000, 'x'));
    h.commit("a", std::string(1'000'000, 'x'));
    CHECK(h.publisher->close_peer(h.last_status().id));
    CHECK(h.turn_until([&] { return h.publisher->subscribers().empty(); }));
    CHECK(h.totals().matched == 2);
    CHECK(h.totals().dropped == 2);
    CHECK(adds_up(h.totals()));
}
