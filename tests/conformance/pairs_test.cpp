#include "conformance/conformance.hpp"

#include <type_traits>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Sends one message each way between sockets that both send.
template <class First, class Second, class Send>
void check_both_ways(Pair<First, Second>& pair, Send send_first) {
    Inbox first(pair.first);
    Inbox second(pair.second);
    REQUIRE(pair.turn_until([&] { return send_first(pair.first) == SendStatus::sent; }));
    REQUIRE(pair.turn_until([&] { return second.receive() == 1; }));
    CHECK(second.messages.at(0) == Frames{"from first", "1"});

    if constexpr (std::is_same_v<Second, Router>) {
        CHECK(second.peers.at(0) == "first");
        REQUIRE(pair.second.send("first", {"from second", "2"}) == SendStatus::sent);
    } else {
        REQUIRE(pair.second.send({"from second", "2"}) == SendStatus::sent);
    }
    REQUIRE(pair.turn_until([&] { return first.receive() == 1; }));
    CHECK(first.messages.at(0) == Frames{"from second", "2"});
}

SendStatus route_to_second(Router& router) {
    return router.send("second", {"from first", "1"});
}

SendStatus deal(Dealer& dealer) {
    return dealer.send({"from first", "1"});
}

}  // namespace

TEST_CASE("a publisher reaches a subscriber, whichever binds", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over, GENERATE(Binder::first, Binder::second));
    REQUIRE(subscribe_to(pair, {""}));
    Inbox inbox(pair.second);
    pair.first.send("topic", "payload");
    REQUIRE(pair.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.messages.at(0) == Frames{"topic", "payload"});
    CHECK(peers_of(pair.first).at(0).socket_type == "SUB");
    CHECK(peers_of(pair.second).at(0).socket_type == "PUB");
    CHECK(peers_of(pair.second).at(0).mechanism == Mechanism::null);
    CHECK(peers_of(pair.second).at(0).zmtp_minor == 1);
}

TEST_CASE("a router and a dealer talk both ways, whichever binds", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    const Binder binder = GENERATE(Binder::first, Binder::second);
    SECTION("the router first") {
        Pair<Router, Dealer> pair(over, binder);
        check_both_ways(pair, route_to_second);
    }
    SECTION("the dealer first") {
        Pair<Dealer, Router> pair(over, binder);
        check_both_ways(pair, deal);
    }
}

TEST_CASE("two routers talk both ways by their identities, whichever binds", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Pair<Router, Router> pair(over, GENERATE(Binder::first, Binder::second));
    check_both_ways(pair, route_to_second);
}

TEST_CASE("two dealers talk both ways, whichever binds", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Pair<Dealer, Dealer> pair(over, GENERATE(Binder::first, Binder::second));
    check_both_ways(pair, deal);
}

TEST_CASE("sockets of incompatible types refuse each other", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Bench bench;
    MonitorLog events;
    Publisher publisher(bench.reactor, on_threads(over));
    Dealer dealer(bench.reactor, {});
    publisher.set_monitor(events.handler());
    dealer.connect(publisher.bind(over.to_bind(bench.scratch)));
    CHECK(bench.turn_until([&] { return events.count(MonitorEventKind::handshake_failed) > 0; }));
    CHECK(publisher.totals().handshakes_failed > 0);
    CHECK(publisher.subscribers().empty());
    CHECK(dealer.peers().empty());
}

TEST_CASE("a socket can connect before the other binds", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Bench bench;
    const Endpoint endpoint = over.known(bench.scratch);
    SocketOptions impatient;
    impatient.reconnect_first = std::chrono::milliseconds(5);
    impatient.reconnect_max = std::chrono::milliseconds(10);

    SECTION("a subscriber, with its subscriptions") {
        Subscriber subscriber(bench.reactor, impatient);
        subscriber.subscribe("t");
        subscriber.connect(endpoint);
        static_cast<void>(bench.turn_until([&] { return subscriber.totals().connections_retried > 1; },
                                           std::chrono::milliseconds(50)));
        Publisher publisher(bench.reactor, on_threads(over));
        publisher.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
        publisher.send("topic", "payload");
        Inbox inbox(subscriber);
        CHECK(bench.turn_until([&] { return inbox.receive() == 1; }));
    }
    SECTION("a dealer, with messages sent before") {
        Dealer dealer(bench.reactor, impatient);
        dealer.connect(endpoint);
        for (const Frames& frames : numbered(100)) {
            REQUIRE(send_frames(dealer, frames) == SendStatus::sent);
        }
        bench.turn();
        Router router(bench.reactor, {});
        router.bind(endpoint);
        Inbox inbox(router);
        REQUIRE(bench.turn_until([&] { return inbox.receive() == 100; }));
        CHECK(inbox.messages == numbered(100));
    }
    SECTION("a router that knows its peer by an alias, with messages sent before") {
        Router router(bench.reactor, impatient);
        router.connect(endpoint, "later");
        for (const Frames& frames : numbered(100)) {
            REQUIRE(send_frames(router, frames, std::string_view("later")) == SendStatus::sent);
        }
        bench.turn();
        Dealer dealer(bench.reactor, {});
        dealer.bind(endpoint);
        Inbox inbox(dealer);
        REQUIRE(bench.turn_until([&] { return inbox.receive() == 100; }));
        CHECK(inbox.messages == numbered(100));
    }
}

TEST_CASE("one publisher serves endpoints of every transport at once", "[conformance]") {
    Bench bench;
    Publisher publisher(bench.reactor, {});
    Subscriber subscriber(bench.reactor, {});
    subscriber.subscribe("");
    std::vector<Endpoint> bound;
    for (const TransportTraits& over : transports()) {
        bound.push_back(publisher.bind(over.to_bind(bench.scratch)));
        subscriber.connect(bound.back());
    }
    const std::size_t links = transports().size();
    CHECK(publisher.endpoints() == bound);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == links; }));
    publisher.send("topic", "payload");
    Inbox inbox(subscriber);
    CHECK(bench.turn_until([&] { return inbox.receive() == links; }));
}

TEST_CASE("one router serves endpoints of every transport at once, bound and connected", "[conformance]") {
    Bench bench;
    Router router(bench.reactor, named<Router>("router"));
    std::vector<std::unique_ptr<Dealer>> dealers;
    for (const TransportTraits& over : transports()) {
        const Endpoint endpoint = router.bind(over.to_bind(bench.scratch));
        dealers.push_back(std::make_unique<Dealer>(bench.reactor, named<Dealer>(over.name + " connects")));
        dealers.back()->connect(endpoint);
        dealers.push_back(std::make_unique<Dealer>(bench.reactor, named<Dealer>(over.name + " binds")));
        router.connect(dealers.back()->bind(over.to_bind(bench.scratch)));
    }
    REQUIRE(bench.turn_until([&] { return router.peers().size() == dealers.size(); }));
    for (const PeerStatus& peer : router.peers()) {
        REQUIRE(router.send(peer.identity, {peer.identity}) == SendStatus::sent);
    }
    std::vector<Inbox<Dealer>> inboxes;
    for (const auto& dealer : dealers) {
        inboxes.emplace_back(*dealer);
    }
    CHECK(bench.turn_until([&] {
        return std::all_of(inboxes.begin(), inboxes.end(), [](Inbox<Dealer>& inbox) { return inbox.receive() == 1; });
    }));
    for (std::size_t index = 0; index < inboxes.size(); ++index) {
        const std::string& transport = transports()[index / 2].name;
        CHECK(inboxes[index].messages.at(0) == Frames{transport + (index % 2 == 0 ? " connects" : " binds")});
    }
}
