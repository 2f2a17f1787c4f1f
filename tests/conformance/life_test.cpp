#include "conformance/conformance.hpp"

#include <system_error>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// Returns the events of `events` that are in `wanted`, in their order.
std::vector<Kind> only(const MonitorLog& events, const std::vector<Kind>& wanted) {
    std::vector<Kind> out;
    for (const Kind kind : events.kinds()) {
        if (std::find(wanted.begin(), wanted.end(), kind) != wanted.end()) {
            out.push_back(kind);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("closing with a grace period delivers everything that is pending", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    constexpr std::size_t count = 300;
    const std::string body(16 * 1024, 'x');
    int done = 0;

    SECTION("of a publisher") {
        Pair<Publisher, Subscriber> pair(over);
        REQUIRE(subscribe_to(pair, {""}));
        for (std::size_t number = 0; number < count; ++number) {
            pair.first.send("topic", body);
        }
        pair.first.close(10s, [&] { ++done; });
        Inbox inbox(pair.second);
        CHECK(pair.turn_until([&] { return inbox.receive() == count && done == 1; }));
        CHECK(pair.first.totals().dropped == 0);
        CHECK(pair.first.totals().sent == count);
        CHECK(pair.first.subscribers().empty());
    }
    SECTION("of a router") {
        Pair<Router, Dealer> pair(over);
        REQUIRE(pair.is_open());
        for (std::size_t number = 0; number < count; ++number) {
            REQUIRE(pair.first.send("second", {body}) == SendStatus::sent);
        }
        pair.first.close(10s, [&] { ++done; });
        Inbox inbox(pair.second);
        CHECK(pair.turn_until([&] { return inbox.receive() == count && done == 1; }));
        CHECK(pair.first.totals().dropped == 0);
    }
    SECTION("of a dealer") {
        Pair<Router, Dealer> pair(over);
        REQUIRE(pair.is_open());
        for (std::size_t number = 0; number < count; ++number) {
            REQUIRE(pair.second.send({body}) == SendStatus::sent);
        }
        pair.second.close(10s, [&] { ++done; });
        Inbox inbox(pair.first);
        CHECK(pair.turn_until([&] { return inbox.receive() == count && done == 1; }));
        CHECK(pair.second.totals().dropped == 0);
    }
}

TEST_CASE("a closing socket disconnects a peer that does not take pending data within the grace period",
          "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {""}));
    const std::string body(256 * 1024, 'x');
    for (int number = 0; number < 60; ++number) {
        pair.first.send("topic", body);
        pair.turn();
    }
    REQUIRE(pair.first.totals().pending > 0);
    int done = 0;
    const auto begin = std::chrono::steady_clock::now();
    pair.first.close(30ms, [&] { ++done; });
    CHECK(pair.turn_until([&] { return done == 1; }));
    CHECK(std::chrono::steady_clock::now() - begin >= 30ms);
    CHECK(pair.first.totals().dropped > 0);
    CHECK(pair.first.totals().pending == 0);
    CHECK(adds_up(pair.first.totals()));
}

TEST_CASE("closing an idle socket is done at once, and a second close does no harm", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {""}));
    int done = 0;
    pair.first.close(60s, [&] { ++done; });
    pair.first.close(50s, {});
    CHECK(pair.turn_until([&] { return done == 1; }, 5s));
    CHECK(pair.turn_until([&] { return pair.second.peers().empty(); }));
    pair.turn();
    CHECK(done == 1);
}

TEST_CASE("unbinding keeps existing connections and accepts no new ones", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {""}));
    CHECK(pair.first.endpoints() == std::vector<Endpoint>{pair.endpoint});
    CHECK(pair.first.unbind(pair.endpoint));
    CHECK_FALSE(pair.first.unbind(pair.endpoint));
    CHECK(pair.first.endpoints().empty());
    Inbox inbox(pair.second);
    pair.first.send("topic", "payload");
    CHECK(pair.turn_until([&] { return inbox.receive() == 1; }));

    Subscriber late(pair.reactor, {});
    late.connect(pair.endpoint);
    static_cast<void>(pair.turn_until([&] { return late.totals().connections_retried > 0; }, 50ms));
    CHECK(pair.first.subscribers().size() == 1);

    Publisher next(pair.reactor, on_threads(over));
    next.bind(pair.endpoint);
    CHECK(pair.turn_until([&] { return next.subscribers().size() == 1; }));
}

TEST_CASE("disconnecting ends the connection for good", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {""}));
    CHECK(pair.second.disconnect(pair.endpoint));
    CHECK_FALSE(pair.second.disconnect(pair.endpoint));
    REQUIRE(pair.turn_until([&] { return pair.first.subscribers().empty(); }));
    CHECK(pair.second.peers().empty());
    CHECK(pair.turn_until([&] { return pair.first.totals().subscriptions == 0; }));
    CHECK(pair.second.totals().connections_made == 1);

    pair.second.connect(pair.endpoint);
    CHECK(pair.turn_until([&] { return pair.first.totals().subscriptions == 1; }));
}

TEST_CASE("an endpoint can be bound by one socket at a time", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Bench bench;
    MonitorLog events;
    auto first = std::make_unique<Router>(bench.reactor, SocketOptions{});
    const Endpoint endpoint = first->bind(over.to_bind(bench.scratch));
    Publisher second(bench.reactor, {});
    second.set_monitor(events.handler());
    std::error_code error;
    try {
        second.bind(endpoint);
    } catch (const std::system_error& failure) {
        error = failure.code();
        CHECK(std::string(failure.what()).find(to_string(endpoint)) != std::string::npos);
    }
    CHECK((error == std::errc::address_in_use));
    CHECK(events.count(Kind::bind_failed) == 1);
    CHECK(second.endpoints().empty());
    first.reset();
    CHECK(second.bind(endpoint) == endpoint);
}

TEST_CASE("the monitor reports a connection's events in order, on both sides", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    MonitorLog at_binder;
    MonitorLog at_connector;
    Bench bench;
    Publisher publisher(bench.reactor, on_threads(over));
    publisher.set_monitor(at_binder.handler());
    const Endpoint endpoint = publisher.bind(over.to_bind(bench.scratch));
    {
        Subscriber subscriber(bench.reactor, {});
        subscriber.set_monitor(at_connector.handler());
        subscriber.subscribe("topic");
        subscriber.connect(endpoint);
        REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
        subscriber.disconnect(endpoint);
        REQUIRE(bench.turn_until([&] { return at_binder.count(Kind::disconnected) == 1; }));
    }
    publisher.unbind(endpoint);
    CHECK(only(at_binder, {Kind::listening, Kind::accepted, Kind::handshake_done, Kind::subscribed, Kind::disconnected,
                           Kind::closed}) == std::vector<Kind>{Kind::listening, Kind::accepted, Kind::handshake_done,
                                                               Kind::subscribed, Kind::disconnected, Kind::closed});
    CHECK(only(at_connector, {Kind::connected, Kind::handshake_done, Kind::disconnected}) ==
          std::vector<Kind>{Kind::connected, Kind::handshake_done, Kind::disconnected});
    for (const MonitorLog::Entry& entry : at_binder.entries) {
        CHECK(entry.endpoint == to_string(endpoint));
    }
    CHECK_FALSE(at_binder.detail(Kind::disconnected).empty());
    CHECK(at_binder.detail(Kind::handshake_done).find("SUB") != std::string::npos);
    CHECK(at_binder.entries.at(1).peer_id != 0);
    CHECK(at_binder.entries.at(1).peer_id == at_binder.entries.at(2).peer_id);
}

TEST_CASE("a slow reader is reported and its losses are counted", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    PublisherOptions options;
    options.backlog_bytes_max = 512 * 1024;
    options.handshake_time_max = 40ms;  // short deadlines make the socket check often
    MonitorLog events;
    Pair<Publisher, Subscriber> pair(over, Binder::first, options, {});
    pair.first.set_monitor(events.handler());
    REQUIRE(subscribe_to(pair, {""}));
    constexpr std::size_t count = 400;
    const std::string body(64 * 1024, 'x');
    for (std::size_t number = 0; number < count; ++number) {
        pair.first.send("topic", std::to_string(number) + ' ' + body);
        pair.turn();
        REQUIRE(adds_up(pair.first.totals()));
    }
    REQUIRE(pair.turn_until([&] { return pair.first.totals().matched == count; }));
    const std::uint64_t dropped = pair.first.totals().dropped;
    REQUIRE(dropped > 0);
    Inbox inbox(pair.second);
    CHECK(pair.turn_until([&] { return inbox.receive() == count - dropped; }));
    CHECK(inbox.messages.back().at(1).starts_with(std::to_string(count - 1) + ' '));
    CHECK(pair.turn_until([&] { return events.count(Kind::dropped) > 0 && events.count(Kind::slow) > 0; }));
    const PeerStatus status = pair.first.subscribers().at(0);
    CHECK(adds_up(status));
    CHECK(status.matched == count);
    CHECK(status.dropped == dropped);
    CHECK(status.pending == 0);
    CHECK(pair.second.peers().at(0).received == count - dropped);
    CHECK(pair.second.peers().at(0).bytes_received == status.bytes_sent);
    pair.first.set_monitor({});
}

TEST_CASE("totals include the counts of peers that have disconnected", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Pair<Router, Dealer> pair(over);
    REQUIRE(pair.is_open());
    for (const Frames& frames : numbered(10)) {
        REQUIRE(send_frames(pair.first, frames, std::string_view("second")) == SendStatus::sent);
        REQUIRE(send_frames(pair.second, frames) == SendStatus::sent);
    }
    Inbox at_first(pair.first);
    Inbox at_second(pair.second);
    REQUIRE(pair.turn_until([&] { return at_first.receive() == 10 && at_second.receive() == 10; }));
    const SocketTotals before = pair.first.totals();
    pair.second.disconnect(pair.endpoint);
    REQUIRE(pair.turn_until([&] { return pair.first.peers().empty(); }));
    const SocketTotals after = pair.first.totals();
    CHECK(after.matched == 10);
    CHECK(after.sent == 10);
    CHECK(after.received == 10);
    CHECK(after.bytes_sent == before.bytes_sent);
    CHECK(after.connections_accepted == 1);
    CHECK(adds_up(pair.second.totals()));
}

TEST_CASE("sockets can be destroyed in any order while their peers exist", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Bench bench;
    const bool binder_first = GENERATE(true, false);
    auto router = std::make_unique<Router>(bench.reactor, SocketOptions{});
    auto dealer = std::make_unique<Dealer>(bench.reactor, SocketOptions{});
    dealer->connect(router->bind(over.to_bind(bench.scratch)));
    REQUIRE(bench.turn_until([&] { return router->peers().size() == 1 && dealer->peers().size() == 1; }));
    REQUIRE(dealer->send({"in flight", std::string(100'000, 'x')}) == SendStatus::sent);
    if (binder_first) {
        router.reset();
        CHECK(bench.turn_until([&] { return dealer->peers().empty(); }));
    } else {
        dealer.reset();
        CHECK(bench.turn_until([&] { return router->peers().empty(); }));
    }
}
