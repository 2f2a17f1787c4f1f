#include "core/curve.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"
#include "support/socket_harness.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// A publisher with a plain endpoint and one with CURVE.
struct TwoMechanisms : Bench {
    explicit TwoMechanisms(std::size_t io_threads) : publisher(reactor, options(io_threads)) {
        publisher.set_monitor(events.handler());
    }
    ~TwoMechanisms() { subscribers.clear(); }
    TwoMechanisms(const TwoMechanisms&) = delete;
    TwoMechanisms& operator=(const TwoMechanisms&) = delete;

    static PublisherOptions options(std::size_t io_threads) {
        PublisherOptions options;
        options.io_threads = io_threads;
        return options;
    }
    Subscriber& add(const Endpoint& endpoint, const Security& security) {
        SocketOptions options;
        options.security = security;
        options.reconnect_first = 5ms;
        options.reconnect_max = 10ms;
        Subscriber& subscriber = *subscribers.emplace_back(std::make_unique<Subscriber>(reactor, options));
        subscriber.subscribe("");
        subscriber.connect(endpoint);
        return subscriber;
    }
    bool has_subscribers(std::size_t count) {
        return turn_until([&] { return publisher.totals().subscriptions == count; });
    }
    std::vector<std::string> keys() const {
        std::vector<std::string> keys;
        for (const PeerStatus& peer : publisher.subscribers()) {
            keys.push_back(std::string(to_string(peer.mechanism)) + ' ' +
                           (peer.curve_key ? to_z85(*peer.curve_key) : ""));
        }
        return keys;
    }

    const CurveKeyPair server = make_curve_key_pair();
    const CurveKeyPair client = make_curve_key_pair();
    MonitorLog events;
    Publisher publisher;
    std::vector<std::unique_ptr<Subscriber>> subscribers;
    const Endpoint plain = publisher.bind(any_port);
    const Endpoint sealed = publisher.bind(any_port, CurveServer{server, nullptr});
};

}  // namespace

TEST_CASE("one publisher has an endpoint with CURVE and a plain one", "[core][publisher][curve]") {
    TwoMechanisms h(GENERATE(values<std::size_t>({1, 3})));
    Inbox in_plain(h.add(h.plain, {}));
    REQUIRE(h.has_subscribers(1));
    Inbox in_sealed(h.add(h.sealed, CurveClient{h.client, h.server.public_key}));
    REQUIRE(h.has_subscribers(2));
    CHECK(h.keys() == std::vector<std::string>{"NULL ", "CURVE " + to_z85(h.client.public_key)});
    h.publisher.send("topic", "text");
    const std::vector<Frames> wanted{{"topic", "text"}};
    CHECK(h.turn_until([&] { return in_plain.receive() == 1 && in_sealed.receive() == 1; }));
    CHECK(in_plain.messages == wanted);
    CHECK(in_sealed.messages == wanted);
}

TEST_CASE("each endpoint refuses peers with the mechanism of the other", "[core][publisher][curve]") {
    TwoMechanisms h(GENERATE(values<std::size_t>({1, 3})));
    h.add(h.sealed, {});
    CHECK(h.turn_until([&] { return h.events.count(Kind::handshake_failed) >= 1; }));
    h.subscribers.clear();
    h.add(h.plain, CurveClient{h.client, h.server.public_key});
    CHECK(h.turn_until([&] { return h.events.count(Kind::handshake_failed) >= 2; }));
    CHECK(h.publisher.subscribers().empty());
}

TEST_CASE("changed keys apply to new connections, and existing subscribers stay", "[core][publisher][curve]") {
    TwoMechanisms h(GENERATE(values<std::size_t>({1, 3})));
    Inbox before(h.add(h.sealed, CurveClient{h.client, h.server.public_key}));
    REQUIRE(h.has_subscribers(1));
    const CurveKeyPair next = make_curve_key_pair();
    CHECK(h.publisher.set_security(h.sealed, CurveServer{next, nullptr}));
    Inbox after(h.add(h.sealed, CurveClient{make_curve_key_pair(), next.public_key}));
    REQUIRE(h.has_subscribers(2));
    h.add(h.sealed, CurveClient{make_curve_key_pair(), h.server.public_key});
    CHECK(h.turn_until([&] { return h.events.count(Kind::handshake_failed) >= 1; }));
    h.publisher.send("topic", "text");
    CHECK(h.turn_until([&] { return before.receive() == 1 && after.receive() == 1; }));
    CHECK(h.publisher.subscribers().size() == 2);
}

TEST_CASE("a handshake that started before a change of keys is closed", "[core][publisher][curve]") {
    PublisherOptions options;
    options.io_threads = GENERATE(values<std::size_t>({1, 3}));
    options.handshake_time_max = 1h;  // so that nothing else closes it
    PublisherHarness h(options);
    RawPeer peer = h.connect();
    peer.send(greeting());
    REQUIRE(h.turn_until([&] { return peer.read() == publisher_hello(); }));
    CHECK(h.publisher->set_security(h.endpoint, CurveServer{make_curve_key_pair(), nullptr}));
    CHECK(h.is_cut(peer));
    CHECK(h.publisher->totals().handshakes_failed == 1);
}

TEST_CASE("CURVE cannot be set over inproc, or where nothing is bound", "[core][publisher][curve]") {
    Bench bench;
    Publisher publisher(bench.reactor, {});
    const Security security = CurveServer{make_curve_key_pair(), nullptr};
    const Endpoint inside{Transport::inproc, "", 0, "inside"};
    CHECK_THROWS_AS(publisher.bind(inside, security), std::invalid_argument);
    CHECK(publisher.bind(inside, Security()) == inside);
    CHECK_THROWS_AS(publisher.set_security(inside, security), std::invalid_argument);
    CHECK_FALSE(publisher.set_security(any_port, security));
}
