#include "core/limits.hpp"
#include "core/sockets/socket_bench.hpp"

#include <algorithm>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A bound router, and peers that all have the same identity.
class HandoverBench : public Bench {
  public:
    explicit HandoverBench(SocketOptions options = {}) : router(reactor, std::move(options)), inbox(router) {
        router.set_monitor(events.handler());
        endpoint = router.bind(fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc), scratch.path()));
    }
    RawSession join(std::string_view identity = "same") {
        const std::size_t before = events.count(MonitorEventKind::handshake_done);
        RawSession session(*this, endpoint, greeting() + ready("DEALER", identity), hello_of("ROUTER"));
        REQUIRE(turn_until([&] { return events.count(MonitorEventKind::handshake_done) > before; }));
        return session;
    }
    /// Connects and sends `bytes`; the router sees it in its next iteration, whenever that is.
    void come_and_go(const std::string& bytes) {
        RawPeer peer(endpoint);
        peer.send(greeting() + ready("DEALER", "same") + bytes);
    }
    bool is_cut(RawSession& peer) {
        return turn_until([&] {
            peer.read();
            return peer.peer.at_end();
        });
    }
    [[nodiscard]] bool has_ended(std::size_t times) const {
        return events.count(MonitorEventKind::disconnected) == times;
    }

    MonitorLog events;
    Router router;
    Inbox<Router> inbox;
    Endpoint endpoint;
};

std::string numbered(std::string_view name, std::size_t count, std::size_t body_bytes = 1) {
    std::string bytes;
    for (std::size_t number = 0; number < count; ++number) {
        bytes += message(std::string(name), std::to_string(number) + std::string(body_bytes, 'x'));
    }
    return bytes;
}

std::size_t count_of(const std::vector<Frames>& messages, std::string_view name) {
    return static_cast<std::size_t>(
        std::count_if(messages.begin(), messages.end(), [&](const Frames& frames) { return frames.at(0) == name; }));
}

SocketOptions with_little_time() {
    SocketOptions options;
    options.heartbeat_interval = std::chrono::milliseconds(20);
    options.heartbeat_timeout = std::chrono::milliseconds(60);
    return options;
}

bool is_by_name(const std::vector<Frames>& messages) {
    return std::is_sorted(messages.begin(), messages.end(),
                          [](const Frames& one, const Frames& two) { return one.at(0) < two.at(0); });
}

}  // namespace

TEST_CASE("a duplicate identity is handed over to the new connection", "[core][sockets]") {
    HandoverBench bench;
    RawSession older = bench.join();
    CHECK(bench.router.send("same", {"1"}) == SendStatus::sent);
    CHECK(bench.turn_until([&] { return older.read() == frame(0, "1"); }));
    RawSession newer = bench.join();
    CHECK(bench.is_cut(older));
    older.peer.close();
    CHECK(bench.turn_until([&] {
        bench.inbox.receive();
        return bench.has_ended(1);
    }));
    CHECK(bench.events.detail(MonitorEventKind::disconnected) == "identity taken over");
    CHECK(bench.router.send("same", {"2"}) == SendStatus::sent);
    CHECK(bench.turn_until([&] { return newer.read() == frame(0, "2"); }));
    newer.peer.send(frame(0, "3"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    CHECK(bench.inbox.peers == std::vector<std::string>{"same"});
    CHECK(bench.router.peers().size() == 1);
    newer.peer.close();
    CHECK(bench.turn_until([&] { return bench.router.send("same", {"4"}) == SendStatus::unknown_peer; }));
    CHECK(adds_up(bench.router.totals()));
}

TEST_CASE("data that arrived before the identity was taken over is delivered before the new peer's",
          "[core][sockets]") {
    HandoverBench bench;
    const std::size_t body_bytes = GENERATE(std::size_t{1}, std::size_t{1'000});
    RawSession older = bench.join();
    const std::string bytes = numbered("1 older", 100, body_bytes);
    REQUIRE(older.peer.send(bytes));
    older.peer.close();
    RawPeer newer(bench.endpoint);
    REQUIRE(newer.send(greeting() + ready("DEALER", "same") + numbered("2 newer", 100)));
    REQUIRE(bench.turn_until([&] { return bench.events.count(MonitorEventKind::handshake_done) == 2; }));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 200 && bench.has_ended(1); }));
    CHECK(count_of(bench.inbox.messages, "1 older") == 100);
    CHECK(is_by_name(bench.inbox.messages));
    CHECK(std::count(bench.inbox.peers.begin(), bench.inbox.peers.end(), "same") == 200);
    CHECK(bench.events.detail(MonitorEventKind::disconnected) == "identity taken over");
    CHECK(bench.router.totals().violations == 0);
}

TEST_CASE("much data from the old connection is delivered before the new peer's, over several iterations",
          "[core][sockets]") {
    HandoverBench bench;
    RawSession older = bench.join();
    const std::string bytes = numbered("1 older", 5'000, 1'000);
    older.peer.send(bytes);
    RawPeer newer(bench.endpoint);
    newer.send(greeting() + ready("DEALER", "same") + numbered("2 newer", 10));
    REQUIRE(bench.turn_until([&] {
        older.peer.send();
        return bench.inbox.receive() == 5'010;
    }));
    CHECK(count_of(bench.inbox.messages, "1 older") == 5'000);
    CHECK(bench.inbox.messages.front().at(0) == "1 older");
    older.peer.close();
    CHECK(bench.turn_until([&] { return bench.has_ended(1); }));
}

TEST_CASE("several peers that come and go while the router is busy lose nothing", "[core][sockets]") {
    HandoverBench bench;
    for (const std::string name : {"1", "2", "3", "4"}) {
        bench.come_and_go(numbered(name, 100));
    }
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 400 && bench.has_ended(4); }));
    CHECK(is_by_name(bench.inbox.messages));
    CHECK(bench.router.peers().empty());
    CHECK(bench.router.send("same", {"x"}) == SendStatus::unknown_peer);
}

TEST_CASE("a handler gets the new peer's messages once the older connection has been read", "[core][sockets]") {
    HandoverBench bench;
    bench.router.set_on_readable([&] { bench.inbox.receive(); });
    RawSession older = bench.join();
    older.peer.send(numbered("1 older", 10));
    RawPeer newer(bench.endpoint);
    newer.send(greeting() + ready("DEALER", "same") + numbered("2 newer", 10));
    CHECK(bench.turn_until([&] { return bench.inbox.messages.size() == 20; }));
    CHECK(is_by_name(bench.inbox.messages));
    newer.send(numbered("3 newer", 10));
    CHECK(bench.turn_until([&] { return bench.inbox.messages.size() == 30; }));
}

TEST_CASE("a connection that was taken over and stays open is closed in time, reporting unread data",
          "[core][sockets]") {
    HandoverBench bench(with_little_time());
    const bool is_taken = GENERATE(true, false);
    RawSession older = bench.join();
    older.peer.send(frame(0, "older"));
    RawPeer newer(bench.endpoint);
    newer.send(greeting() + ready("DEALER", "same"));
    REQUIRE(bench.turn_until([&] {
        newer.send(pong(""));
        return (!is_taken || bench.inbox.receive() == 1) && bench.has_ended(1);
    }));
    CHECK(bench.events.detail(MonitorEventKind::disconnected) ==
          (is_taken ? "identity taken over" : "identity taken over, unread data dropped"));
}

TEST_CASE("of many takeovers in a row only a few older connections stay", "[core][sockets]") {
    HandoverBench bench;
    std::vector<RawSession> claimants;
    for (std::size_t number = 0; number < 3 * limits::retiring_per_identity_max; ++number) {
        claimants.push_back(bench.join());
        CHECK(bench.router.peers().size() <= 1 + limits::retiring_per_identity_max);
    }
    CHECK(bench.router.send("same", {"newest"}) == SendStatus::sent);
    CHECK(bench.turn_until([&] { return claimants.back().read() == frame(0, "newest"); }));
}

TEST_CASE("a connection that was taken over and ends within a message reports unread data", "[core][sockets]") {
    HandoverBench bench(with_little_time());
    RawSession older = bench.join();
    const std::string bytes = frame(0, std::string(1'000, 'x'));
    older.peer.send(bytes.substr(0, bytes.size() - 1));
    RawSession newer = bench.join();
    REQUIRE(bench.turn_until([&] {
        newer.peer.send(pong(""));
        bench.inbox.receive();
        return bench.has_ended(1);
    }));
    CHECK(bench.events.detail(MonitorEventKind::disconnected) == "identity taken over, unread data dropped");
}

TEST_CASE("a peer that disconnects while it waits to be read loses nothing", "[core][sockets]") {
    HandoverBench bench(with_little_time());
    RawSession first = bench.join();
    first.peer.send(numbered("1", 10));
    RawSession second = bench.join();
    second.peer.send(numbered("2", 10));
    RawSession third = bench.join();
    third.peer.send(numbered("3", 10));
    REQUIRE(bench.turn_until([&] { return bench.router.peers().size() == 3; }));
    third.peer.close();
    REQUIRE(bench.turn_until([&] {
        (void)bench.router.send("same", {"nobody reads this"});
        bench.router.flush();
        return bench.has_ended(2);
    }));
    CHECK(bench.turn_until([&] { return bench.inbox.receive() == 10 && bench.has_ended(3); }));
    CHECK(count_of(bench.inbox.messages, "3") == 10);
    CHECK(adds_up(bench.router.totals()));
}

TEST_CASE("a peer that takes over from one that is gone still waits for the one before", "[core][sockets]") {
    HandoverBench bench;
    RawSession first = bench.join();
    REQUIRE(first.peer.send(numbered("1", 100, 1'000)));  // completely in flight
    RawSession second = bench.join();
    RawSession third = bench.join();
    third.peer.send(numbered("3", 10));
    second.peer.close();
    REQUIRE(bench.turn_until([&] { return bench.has_ended(1); }));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 110; }));
    CHECK(is_by_name(bench.inbox.messages));
}

TEST_CASE("connections that were taken over are closed in favor of new ones", "[core][sockets]") {
    SocketOptions options;
    options.sessions_max = 3;
    HandoverBench bench(options);
    RawSession read = bench.join();
    RawSession unread = bench.join();
    unread.peer.send(frame(0, "unread"));
    RawSession newest = bench.join();
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    RawSession other = bench.join("other");
    CHECK(bench.has_ended(1));
    CHECK(bench.events.detail(MonitorEventKind::disconnected) == "too many connections");
    CHECK(bench.router.send("same", {"x"}) == SendStatus::sent);
    CHECK(bench.router.send("other", {"x"}) == SendStatus::sent);
    CHECK(bench.router.totals().connections_refused == 0);
}

TEST_CASE("an alias does not get the messages of a peer that had its name before", "[core][sockets]") {
    HandoverBench bench;
    RawSession older = bench.join();
    older.peer.send(frame(0, "older"));
    RawSession newer = bench.join();
    newer.peer.close();
    REQUIRE(bench.turn_until([&] { return bench.has_ended(1); }));
    CHECK(bench.router.send("same", {"x"}) == SendStatus::unknown_peer);
    CHECK_THROWS_WITH(bench.router.connect(bench.endpoint, "same"), "alias is in use: same");
}
