#include "core/sockets/socket_bench.hpp"

#include <memory>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a router can send to an alias before its peer is connected", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Router router(bench.reactor, impatient("router"));
    Inbox inbox(router);
    router.connect(endpoint, "alias");
    CHECK(router.send("alias", {"early"}) == SendStatus::sent);
    Router other(bench.reactor, impatient("its own name"));
    Inbox at_other(other);
    other.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return at_other.receive() == 1; }));
    CHECK(at_other.messages.at(0) == Frames{"early"});
    CHECK(at_other.peers.at(0) == "router");
    REQUIRE(other.send("router", {"answer"}) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.peers.at(0) == "alias");
    CHECK(router.send("its own name", {"x"}) == SendStatus::unknown_peer);
    CHECK(router.peers().at(0).identity == "alias");
}

TEST_CASE("an alias keeps pending messages until the peer reconnects", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Router router(bench.reactor, impatient("router"));
    Inbox inbox(router);
    router.connect(endpoint, "alias");
    {
        Router other(bench.reactor, impatient("first"));
        other.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return router.peers().size() == 1; }));
    }
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 0 && router.peers().empty(); }));
    CHECK(router.send("alias", {"1"}) == SendStatus::sent);
    CHECK(router.send("alias", {"2"}) == SendStatus::sent);
    Router other(bench.reactor, impatient("second"));  // another identity, but still the alias here
    Inbox at_other(other);
    other.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return at_other.receive() == 2; }));
    CHECK(at_other.messages == std::vector<Frames>{{"1"}, {"2"}});
    CHECK(router.totals().dropped == 0);
    CHECK(adds_up(router.totals()));
}

TEST_CASE("pending messages for an alias are bounded, and free capacity is reported", "[core][sockets]") {
    Bench bench;
    const Endpoint endpoint = known_endpoint(Transport::ipc, bench.scratch);
    SocketOptions options = impatient("router");
    options.backlog_bytes_max = 1'000;
    Router router(bench.reactor, options);
    std::vector<std::string> writable;
    router.set_on_writable([&](std::string_view peer) { writable.emplace_back(peer); });
    router.connect(endpoint, "alias");
    std::size_t sent = 0;
    while (router.send("alias", {std::string(100, 'x')}) == SendStatus::sent) {
        ++sent;
        REQUIRE(sent < 100);
    }
    CHECK(sent == 9);
    CHECK(router.send("alias", {std::string(100, 'x')}) == SendStatus::full);
    Router other(bench.reactor, impatient());
    Inbox at_other(other);
    other.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return at_other.receive() == sent && !writable.empty(); }));
    CHECK(router.send("alias", {std::string(100, 'x')}) == SendStatus::sent);
    CHECK(bench.turn_until([&] { return at_other.receive() == sent + 1; }));
}

TEST_CASE("an alias must be a valid identity that is not in use", "[core][sockets]") {
    Bench bench;
    const Endpoint endpoint = known_endpoint(Transport::inproc, bench.scratch);
    Router router(bench.reactor, {});
    CHECK_THROWS_AS(router.connect(endpoint, std::string_view("\0a", 2)), std::invalid_argument);
    CHECK_THROWS_AS(router.connect(endpoint, std::string(256, 'a')), std::invalid_argument);
    router.connect(endpoint, std::string(255, 'a'));
    CHECK_THROWS_AS(router.connect(endpoint, std::string(255, 'a')), std::invalid_argument);

    Dealer dealer(bench.reactor, impatient("dealer"));
    dealer.connect(router.bind(fresh_endpoint(Transport::ipc, bench.scratch.path())));
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 1; }));
    CHECK_THROWS_AS(router.connect(endpoint, "dealer"), std::invalid_argument);
}

TEST_CASE("another peer that sends one of our aliases as its identity does not get its messages", "[core][sockets]") {
    Bench bench;
    const Endpoint endpoint = known_endpoint(Transport::ipc, bench.scratch);
    Router router(bench.reactor, impatient());
    Inbox inbox(router);
    router.connect(endpoint, "alias");
    Dealer stranger(bench.reactor, impatient("alias"));
    Inbox at_stranger(stranger);
    stranger.connect(router.bind(fresh_endpoint(Transport::tcp, bench.scratch.path())));
    REQUIRE(stranger.send({"hello"}) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.peers.at(0) != "alias");
    CHECK(inbox.peers.at(0).size() == 5);
    CHECK(router.send("alias", {"secret"}) == SendStatus::sent);
    CHECK(router.send(inbox.peers.at(0), {"hello"}) == SendStatus::sent);
    Dealer friendly(bench.reactor, {});
    Inbox at_friendly(friendly);
    friendly.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return at_friendly.receive() + at_stranger.receive() == 2; }));
    CHECK(at_friendly.messages == std::vector<Frames>{{"secret"}});
    CHECK(at_stranger.messages == std::vector<Frames>{{"hello"}});
}

TEST_CASE("a disconnected alias is forgotten and can be used again", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Router router(bench.reactor, impatient());
    Dealer dealer(bench.reactor, {});
    Inbox inbox(dealer);
    const bool is_reached = GENERATE(false, true);
    router.connect(endpoint, "alias");
    CHECK(router.send("alias", {"1"}) == SendStatus::sent);
    if (is_reached) {
        dealer.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    }
    CHECK(router.disconnect(endpoint));
    CHECK_FALSE(router.disconnect(endpoint));
    CHECK(router.send("alias", {"2"}) == SendStatus::unknown_peer);
    CHECK(router.peers().empty());
    CHECK(router.totals().matched == 1);
    CHECK(router.totals().dropped == (is_reached ? 0 : 1));
    CHECK(adds_up(router.totals()));
    if (!is_reached) {
        dealer.bind(endpoint);
    }
    router.connect(endpoint, "alias");
    CHECK(router.send("alias", {"3"}) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] {
        inbox.receive();
        return !inbox.messages.empty() && inbox.messages.back() == Frames{"3"};
    }));
}

TEST_CASE("without an alias no messages are kept for a peer that may reconnect under another identity",
          "[core][sockets]") {
    Bench bench;
    const Endpoint endpoint = known_endpoint(Transport::ipc, bench.scratch);
    Router router(bench.reactor, impatient());
    router.connect(endpoint);
    {
        Dealer first(bench.reactor, impatient("first"));
        first.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return router.send("first", {"1"}) == SendStatus::sent; }));
    }
    REQUIRE(bench.turn_until([&] { return router.peers().empty(); }));
    CHECK(router.send("first", {"2"}) == SendStatus::unknown_peer);
    Dealer second(bench.reactor, impatient("second"));
    Inbox inbox(second);
    second.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return router.send("second", {"3"}) == SendStatus::sent; }));
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.messages == std::vector<Frames>{{"3"}});
}
