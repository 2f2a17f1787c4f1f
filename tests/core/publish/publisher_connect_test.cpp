#include "core/peers/accepted.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"
#include "support/raw_listener.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// A listening SUB. The publisher's connection to it has finished its handshake and is subscribed.
RawPeer served(PublisherHarness& h, RawListener& listener) {
    RawPeer peer = accepted(h, listener);
    peer.send(greeting() + ready("SUB") + subscribe("t"));
    REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 1; }));
    return peer;
}

}  // namespace

TEST_CASE("a publisher that connects serves the subscriber at the endpoint", "[core][publisher][connect]") {
    PublisherHarness h;
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    RawPeer peer = served(h, listener);
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
    CHECK(h.totals().connections_made == 1);
    CHECK(h.totals().connections_accepted == 0);
    CHECK(h.last_status().endpoint == to_string(listener.endpoint()));
    CHECK(h.count(Kind::connected) == 1);
}

TEST_CASE("a lost connection is reestablished", "[core][publisher][connect]") {
    PublisherHarness h(with_short_pauses());
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    for (std::uint64_t round = 1; round <= 3; ++round) {
        RawPeer peer = served(h, listener);
        h.publish("t", "x");
        CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
        CHECK(h.totals().connections_made == round);
        peer.close();
        REQUIRE(h.turn_until([&] { return h.departures.size() == round; }));
    }
    CHECK(h.totals().connections_retried == 0);
    CHECK(h.totals().sent == 3);
}

TEST_CASE("an endpoint without a listener is retried until there is one", "[core][publisher][connect]") {
    PublisherHarness h(with_short_pauses());
    std::optional<RawListener> listener(std::in_place);
    const Endpoint endpoint = listener->endpoint();
    listener.reset();
    h.publisher->connect(endpoint);
    REQUIRE(h.turn_until([&] { return h.totals().connections_retried >= 3; }));
    CHECK(h.count(Kind::retried) >= 3);
    CHECK(h.totals().connections_made == 0);
    listener.emplace(endpoint.port);
    const RawPeer peer = served(h, *listener);
    CHECK(h.totals().connections_made == 1);
}

TEST_CASE("a failed handshake is retried with increasing pauses", "[core][publisher][connect]") {
    PublisherOptions options;
    options.reconnect_first = 10ms;
    options.reconnect_max = 10s;
    PublisherHarness h(options);
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t failed = 1; failed <= 5; ++failed) {
        RawPeer peer = accepted(h, listener);
        peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
        REQUIRE(h.turn_until([&] { return h.totals().handshakes_failed == failed; }));
        CHECK(h.totals().connections_retried == failed);
    }
    CHECK(std::chrono::steady_clock::now() - begin >= 10ms + 20ms + 40ms + 80ms);
    CHECK(h.count(Kind::handshake_failed) == 5);
}

TEST_CASE("disconnecting ends the connection, or the attempts, permanently", "[core][publisher][connect]") {
    PublisherHarness h(with_short_pauses());
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    const bool is_connected = GENERATE(true, false);
    if (is_connected) {
        RawPeer peer = served(h, listener);
        CHECK(h.publisher->disconnect(listener.endpoint()));
        CHECK(h.is_cut(peer));
        CHECK(h.reason() == "disconnected");
    } else {
        CHECK(h.publisher->disconnect(listener.endpoint()));
    }
    CHECK_FALSE(h.publisher->disconnect(listener.endpoint()));
    CHECK(h.publisher->subscribers().empty());
    const std::uint64_t made = h.totals().connections_made;
    CHECK_FALSE(eventually(
        [&] {
            h.turn();
            return h.totals().connections_made > made;
        },
        100ms));
}

TEST_CASE("an endpoint that can never be connected is refused immediately", "[core][publisher][connect]") {
    PublisherHarness h;
    CHECK_THROWS_AS(h.publisher->connect({Transport::tcp, "*", 5556, ""}), std::system_error);
    CHECK_THROWS_AS(h.publisher->connect({Transport::tcp, "127.0.0.1", 0, ""}), std::system_error);
    CHECK_FALSE(h.publisher->disconnect({Transport::tcp, "*", 5556, ""}));
}

TEST_CASE("two connections to one endpoint are independent, and are disconnected together",
          "[core][publisher][connect]") {
    PublisherHarness h;
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    h.publisher->connect(listener.endpoint());
    RawPeer first = accepted(h, listener);
    RawPeer second = accepted(h, listener);
    CHECK(h.publisher->disconnect(listener.endpoint()));
    CHECK(h.is_cut(first));
    CHECK(h.is_cut(second));
}

TEST_CASE("closing drains outgoing connections and makes no new ones", "[core][publisher][connect]") {
    PublisherHarness h(with_short_pauses());
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    RawPeer peer = served(h, listener);
    RawListener other;
    h.publisher->connect(other.endpoint());
    h.publisher->send("t", "last");
    int done = 0;
    h.publisher->close(10s, [&] { ++done; });
    CHECK(h.is_cut(peer));
    CHECK(peer.received() == publisher_hello() + message("t", "last"));
    peer.close();
    CHECK(h.turn_until([&] { return done == 1; }));
    CHECK(h.totals().connections_made == 1);
}

TEST_CASE("a publisher may be destroyed at any moment of a connection", "[core][publisher][connect]") {
    const int stage = GENERATE(range(0, 4));
    PublisherHarness h(with_short_pauses());
    RawListener listener;
    h.publisher->connect(listener.endpoint());
    std::optional<RawPeer> peer;
    if (stage > 0) {
        peer.emplace(accepted(h, listener));
    }
    if (stage > 1) {
        peer->send(greeting());
        h.turn();
    }
    if (stage > 2) {
        peer->close();
        h.turn();
    }
    h.publisher.reset();
    h.turn();
    CHECK(h.departures.empty());
}
