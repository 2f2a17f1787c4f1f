#include "conformance/conformance.hpp"

#include <filesystem>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

const CurveKeyPair& server_keys() {
    static const CurveKeyPair keys = make_curve_key_pair();
    return keys;
}
const CurveKeyPair& client_keys() {
    static const CurveKeyPair keys = make_curve_key_pair();
    return keys;
}

template <class Socket>
typename OptionsOf<Socket>::Type as_server(std::shared_ptr<const CurveClients> clients = {}) {
    auto options = named<Socket>("server");
    options.security = CurveServer{server_keys(), std::move(clients)};
    options.reconnect_first = 5ms;
    options.reconnect_max = 10ms;
    return options;
}
template <class Socket>
typename OptionsOf<Socket>::Type as_client(const CurveKeyPair& keys = client_keys()) {
    auto options = named<Socket>("client");
    options.security = CurveClient{keys, server_keys().public_key};
    options.reconnect_first = 5ms;
    options.reconnect_max = 10ms;
    return options;
}

Frames bodies() {
    Frames out;
    for (const auto bytes :
         std::initializer_list<std::size_t>{0, 1, 222, 223, 224, 255, 256, 65'535, 65'536, 1'048'576}) {
        out.emplace_back(bytes, 'x');
    }
    return out;
}

}  // namespace

TEST_CASE("a publisher and a subscriber talk under CURVE, in either role, whichever binds", "[conformance][curve]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    const Binder binder = GENERATE(Binder::first, Binder::second);
    const bool publisher_serves = GENERATE(true, false);
    Pair<Publisher, Subscriber> pair(over, binder, publisher_serves ? as_server<Publisher>() : as_client<Publisher>(),
                                     publisher_serves ? as_client<Subscriber>() : as_server<Subscriber>());
    REQUIRE(subscribe_to(pair, {"topic", std::string(300, 'x')}));
    Inbox inbox(pair.second);
    const Frames sent = bodies();
    for (const std::string& body : sent) {
        pair.first.send("topic", body);
        pair.first.send("other", body);
    }
    REQUIRE(pair.turn_until([&] { return inbox.receive() == sent.size(); }));
    for (std::size_t index = 0; index < sent.size(); ++index) {
        CHECK((inbox.messages[index] == Frames{"topic", sent[index]}));
    }
    CHECK(adds_up(pair.first.totals()));
    CHECK(pair.first.totals().sent == sent.size());
    const PeerStatus peer = pair.first.subscribers().at(0);
    CHECK(peer.mechanism == Mechanism::curve);
    CHECK(peer.curve_key == (publisher_serves ? client_keys().public_key : server_keys().public_key));
    pair.second.unsubscribe("topic");
    CHECK(pair.turn_until([&] { return pair.first.totals().subscriptions == 1; }));
}

TEST_CASE("a router and a dealer talk under CURVE with whole messages of many frames", "[conformance][curve]") {
    const TransportTraits& over = each_outer_transport();
    CAPTURE(over.name);
    Pair<Router, Dealer> pair(over, GENERATE(Binder::first, Binder::second), as_server<Router>(), as_client<Dealer>());
    REQUIRE(pair.is_open());
    Inbox at_router(pair.first);
    Inbox at_dealer(pair.second);
    REQUIRE(send_frames(pair.first, bodies(), std::string_view("client")) == SendStatus::sent);
    REQUIRE(send_frames(pair.first, {""}, std::string_view("client")) == SendStatus::sent);
    REQUIRE(send_frames(pair.second, bodies()) == SendStatus::sent);
    REQUIRE(pair.turn_until([&] { return at_router.receive() == 1 && at_dealer.receive() == 2; }));
    CHECK((at_router.messages.at(0) == bodies()));
    CHECK((at_dealer.messages.at(0) == bodies()));
    CHECK(at_dealer.messages.at(1) == Frames{""});
    CHECK(at_router.peers.at(0) == "client");
}

TEST_CASE("heartbeats and a closing grace period work under CURVE too", "[conformance][curve]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    auto server = as_server<Publisher>();
    server.heartbeat_interval = 10ms;
    Pair<Publisher, Subscriber> pair(over, Binder::first, server, as_client<Subscriber>());
    REQUIRE(subscribe_to(pair, {""}));
    CHECK(pair.turn_until([&] { return pair.first.subscribers().at(0).round_trip.has_value(); }));
    for (int number = 0; number < 500; ++number) {
        pair.first.send("topic", std::string(10'000, 'x'));
    }
    bool done = false;
    pair.first.close(10s, [&] { done = true; });
    Inbox inbox(pair.second);
    CHECK(pair.turn_until([&] { return inbox.receive() == 500 && done; }));
    CHECK(pair.first.totals().dropped == 0);
}

TEST_CASE("a client with a wrong server key is refused while another is served", "[conformance][curve]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    MonitorLog events;
    Pair<Publisher, Subscriber> pair(over, Binder::first, as_server<Publisher>(), as_client<Subscriber>());
    pair.first.set_monitor(events.handler());
    REQUIRE(subscribe_to(pair, {""}));

    SocketOptions wrong = as_client<Subscriber>();
    wrong.security = CurveClient{client_keys(), make_curve_key_pair().public_key};
    Subscriber stranger(pair.reactor, wrong);
    stranger.subscribe("");
    stranger.connect(pair.endpoint);
    Inbox inbox(pair.second);
    std::size_t sent = 0;
    REQUIRE(pair.turn_until([&] {
        pair.first.send("topic", std::to_string(sent++));
        inbox.receive();
        return events.count(Kind::handshake_failed) >= 3;
    }));
    CHECK_FALSE(events.detail(Kind::handshake_failed).empty());
    CHECK(stranger.peers().empty());
    CHECK(stranger.totals().received == 0);
    CHECK(pair.turn_until([&] { return inbox.receive() == sent; }));
    CHECK(pair.first.subscribers().size() == 1);
    pair.first.set_monitor({});
}

TEST_CASE("NULL and CURVE sockets do not connect", "[conformance][curve]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    const bool server_has_curve = GENERATE(true, false);
    Pair<Publisher, Subscriber> pair(over, Binder::first,
                                     server_has_curve ? as_server<Publisher>() : PublisherOptions{},
                                     server_has_curve ? SocketOptions{} : as_client<Subscriber>());
    pair.second.subscribe("");
    CHECK(pair.turn_until([&] { return pair.first.totals().handshakes_failed > 0; }));
    CHECK(pair.first.subscribers().empty());
    CHECK(pair.second.peers().empty());
}

TEST_CASE("only clients on the list are accepted, and the list can be reloaded", "[conformance][curve]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    Bench bench;
    const std::filesystem::path directory = bench.scratch.path("clients");
    std::filesystem::create_directory(directory);
    const CurveKeyPair other_keys = make_curve_key_pair();
    save_curve_key_pair(client_keys(), directory / "known");
    const auto clients = std::make_shared<CurveClients>(directory);
    CHECK(clients->size() == 1);

    MonitorLog events;
    Publisher publisher(bench.reactor, on_threads(over, as_server<Publisher>(clients)));
    publisher.set_monitor(events.handler());
    const Endpoint endpoint = publisher.bind(over.to_bind(bench.scratch));
    Subscriber known(bench.reactor, as_client<Subscriber>());
    known.subscribe("");
    known.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    Subscriber other(bench.reactor, as_client<Subscriber>(other_keys));
    other.subscribe("");
    other.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return events.count(Kind::handshake_failed) > 1; }));
    CHECK(publisher.subscribers().size() == 1);

    save_curve_key_pair(other_keys, directory / "other");
    clients->reload();
    CHECK(bench.turn_until([&] { return publisher.totals().subscriptions == 2; }));

    std::filesystem::remove(directory / "known.public");
    clients->reload();
    const std::size_t failed = events.count(Kind::handshake_failed);
    known.disconnect(endpoint);
    known.connect(endpoint);
    CHECK(bench.turn_until([&] { return events.count(Kind::handshake_failed) > failed; }));
    CHECK(bench.turn_until([&] { return publisher.subscribers().size() == 1; }));
}

TEST_CASE("a subscriber reconnects under CURVE after the publisher has restarted", "[conformance][curve]") {
    const TransportTraits& over = each_outer_publisher_transport();
    CAPTURE(over.name);
    Bench bench;
    const Endpoint endpoint = over.known(bench.scratch);
    Subscriber subscriber(bench.reactor, as_client<Subscriber>());
    subscriber.subscribe("topic");
    subscriber.connect(endpoint);
    for (int life = 0; life < 2; ++life) {
        Publisher publisher(bench.reactor, on_threads(over, as_server<Publisher>()));
        publisher.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
        publisher.send("topic", std::to_string(life));
        Inbox inbox(subscriber);
        REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
        CHECK(inbox.messages.at(0).at(1) == std::to_string(life));
    }
}

TEST_CASE("CURVE is not used over inproc, where it would protect nothing", "[conformance][curve]") {
    Bench bench;
    const Endpoint endpoint{Transport::inproc, {}, 0, "no curve"};
    Publisher publisher(bench.reactor, as_server<Publisher>());
    publisher.bind(endpoint);
    Subscriber subscriber(bench.reactor, as_client<Subscriber>());
    subscriber.subscribe("");
    subscriber.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    CHECK(publisher.subscribers().at(0).mechanism == Mechanism::null);
}

TEST_CASE("an identity can be taken over only with the same key", "[conformance][curve]") {
    const TransportTraits& over = each_outer_transport();
    CAPTURE(over.name);
    MonitorLog events;
    Pair<Router, Dealer> pair(over, Binder::first, as_server<Router>(), as_client<Dealer>());
    pair.first.set_monitor(events.handler());
    REQUIRE(pair.is_open());
    const bool same_key = GENERATE(true, false);
    Dealer newcomer(pair.reactor, as_client<Dealer>(same_key ? client_keys() : make_curve_key_pair()));
    newcomer.connect(pair.endpoint);
    REQUIRE(pair.turn_until([&] { return events.count(Kind::disconnected) > 0; }));
    CHECK(events.detail(Kind::disconnected) ==
          (same_key ? "identity taken over" : "identity in use by a peer with a different key"));
    if (!same_key) {
        Inbox inbox(pair.second);
        CHECK(pair.first.send("client", {"to the owner"}) == SendStatus::sent);
        CHECK(pair.turn_until([&] { return inbox.receive() == 1; }));
    }
    pair.first.set_monitor({});
}
