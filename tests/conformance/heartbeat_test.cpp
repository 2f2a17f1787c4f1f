#include "conformance/conformance.hpp"
#include "support/raw_peer.hpp"
#include "support/zmtp_text.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

template <class Socket>
typename OptionsOf<Socket>::Type with_heartbeat(std::chrono::milliseconds interval, std::chrono::milliseconds timeout) {
    typename OptionsOf<Socket>::Type options;
    options.heartbeat_interval = interval;
    options.heartbeat_timeout = timeout;
    return options;
}

}  // namespace

TEST_CASE("heartbeats do not disturb traffic, and measure the round trip", "[conformance]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over, GENERATE(Binder::first, Binder::second), with_heartbeat<Publisher>(10ms, 5s),
                                     with_heartbeat<Subscriber>(10ms, 5s));
    REQUIRE(subscribe_to(pair, {""}));
    Inbox inbox(pair.second);
    std::size_t sent = 0;
    const auto both_measured = [&] {
        inbox.receive();
        return pair.first.subscribers().at(0).round_trip && pair.second.peers().at(0).round_trip;
    };
    REQUIRE(pair.turn_until(both_measured));
    for (; sent < 1'000; ++sent) {
        pair.first.send("topic", std::to_string(sent));
        pair.turn();
        inbox.receive();
    }
    REQUIRE(pair.turn_until([&] { return inbox.receive() == sent; }));
    for (std::size_t number = 0; number < sent; ++number) {
        REQUIRE(inbox.messages[number].at(1) == std::to_string(number));
    }
    CHECK(pair.first.totals().heartbeat_timeouts == 0);
    CHECK(pair.second.totals().heartbeat_timeouts == 0);
    CHECK(pair.first.subscribers().at(0).round_trip < 5s);
}

TEST_CASE("heartbeats of one side alone keep an idle connection", "[conformance]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    Pair<Router, Dealer> pair(over, Binder::first, with_heartbeat<Router>(10ms, 2s), with_heartbeat<Dealer>(0ms, 2s));
    REQUIRE(pair.is_open());
    REQUIRE(pair.turn_until([&] { return pair.first.peers().at(0).round_trip.has_value(); }));
    const std::uint64_t bytes = pair.second.peers().at(0).bytes_received;
    REQUIRE(pair.turn_until([&] { return pair.second.peers().at(0).bytes_received > bytes + 50; }));
    CHECK(pair.first.peers().size() == 1);
    CHECK_FALSE(pair.second.peers().at(0).round_trip.has_value());
}

TEST_CASE("a silent peer is detected, and one that replies is not closed", "[conformance]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    Bench bench;
    Publisher publisher(bench.reactor, on_threads(over, with_heartbeat<Publisher>(10ms, 200ms)));
    const Endpoint endpoint = publisher.bind(over.to_bind(bench.scratch));
    RawPeer silent(endpoint);
    RawPeer answering(endpoint);
    silent.send(greeting() + ready("SUB") + subscribe(""));
    answering.send(greeting() + ready("SUB") + subscribe(""));
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 2; }));
    const auto begin = std::chrono::steady_clock::now();
    CHECK(bench.turn_until([&] {
        silent.read();
        answering.send(pong(""));
        answering.read();
        return silent.at_end();
    }));
    CHECK(std::chrono::steady_clock::now() - begin >= 150ms);
    CHECK(silent.received().find("\4PING") != std::string::npos);
    CHECK(publisher.totals().heartbeat_timeouts == 1);
    CHECK_FALSE(answering.at_end());
    CHECK(publisher.subscribers().size() == 1);
}

TEST_CASE("within the process a peer cannot vanish unnoticed, and is sent no PING", "[conformance]") {
    Bench bench;
    const Endpoint endpoint{Transport::inproc, {}, 0, "no heartbeat"};
    Router router(bench.reactor, with_heartbeat<Router>(5ms, 20ms));
    Dealer dealer(bench.reactor, with_heartbeat<Dealer>(5ms, 20ms));
    router.bind(endpoint);
    dealer.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 1 && dealer.peers().size() == 1; }));
    const std::uint64_t bytes = router.peers().at(0).bytes_sent;
    CHECK_FALSE(bench.turn_until([&] { return router.peers().empty() || dealer.peers().empty(); }, 100ms));
    CHECK(router.peers().at(0).bytes_sent == bytes);
}
