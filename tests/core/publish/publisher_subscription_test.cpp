#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a publisher sends its greeting at once and replies to a valid greeting with READY",
          "[core][publisher][handshake]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h({}, transport);
    RawPeer peer = h.connect();
    CHECK(h.turn_until([&] { return peer.read() == greeting(); }));
    peer.send(greeting());
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello(); }));
    CHECK(h.publisher->subscribers().empty());
    peer.send(ready("SUB"));
    CHECK(h.turn_until([&] { return h.publisher->subscribers().size() == 1; }));
}

TEST_CASE("a handshake and its subscription may arrive one byte at a time", "[core][publisher][handshake]") {
    PublisherHarness h;
    RawPeer peer = h.connect();
    for (const char byte : greeting() + ready("SUB") + subscribe("t")) {
        peer.send({&byte, 1});
        h.turn();
    }
    CHECK(h.turn_until([&] { return h.last_status().subscriptions_count == 1; }));
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
}

TEST_CASE("a subscription in the same segment as READY applies to the first publish after it",
          "[core][publisher][subscription]") {
    PublisherHarness h;
    RawPeer peer = h.connect();
    peer.send(greeting() + ready("SUB") + subscribe("t"));
    REQUIRE(h.turn_until([&] { return !h.arrivals.empty(); }));
    CHECK(h.publisher->wanted(h.publisher->intern("t")));
    h.publish("t", "first");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "first"); }));
}

TEST_CASE("a peer of either version may use either form of subscription", "[core][publisher][subscription]") {
    const unsigned minor = GENERATE(0U, 1U);
    const bool is_command = GENERATE(true, false);
    const std::string socket_type = GENERATE("SUB", "XSUB");
    CAPTURE(minor, is_command, socket_type);
    PublisherHarness h;
    RawPeer peer = h.connect();
    peer.send(greeting(minor) + ready(socket_type) + (is_command ? subscribe("t") : subscribe_3_0("t")));
    REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 1; }));
    h.publish("t", "1");
    peer.send(is_command ? cancel("t") : cancel_3_0("t"));
    REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 0; }));
    h.publish("t", "2");
    CHECK(h.last_status().matched == 1);
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "1"); }));
}

TEST_CASE("one connection may mix both forms: a subscription in one form can be canceled in the other",
          "[core][publisher][subscription]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({"a", "b"});
    peer.send(cancel_3_0("a") + cancel("b") + subscribe_3_0("c"));
    REQUIRE(h.turn_until([&] { return h.last_status().subscriptions == std::vector<std::string>{"c"}; }));
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("a")));
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("b")));
    CHECK(h.publisher->wanted(h.publisher->intern("c")));
}

TEST_CASE("canceling a prefix that was never subscribed changes nothing", "[core][publisher][subscription]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({"t"});
    peer.send(cancel("u") + cancel("") + cancel_3_0("tt") + ping("done"));
    REQUIRE(h.turn_until([&] { return peer.read() == publisher_hello() + pong("done"); }));
    CHECK(h.last_status().subscriptions == std::vector<std::string>{"t"});
}
