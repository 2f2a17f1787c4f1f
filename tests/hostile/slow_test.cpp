// Hostile peers 16, 17, 23 and 24: those that do not read, read a byte at a time, or disconnect in the middle.
#include "hostile/arena.hpp"

#include <csignal>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// Returns whether `bytes` are whole [topic, payload] messages of "t" with increasing numbers.
bool are_whole_and_in_order(std::string_view bytes, const std::string& body) {
    long last = -1;
    while (!bytes.empty()) {
        const std::size_t blank = bytes.find(' ');
        const std::size_t header = 3 + 9;
        if (blank == std::string_view::npos || blank < header) {
            return false;
        }
        const std::string number(bytes.substr(header, blank - header));
        const std::string whole = message("t", number + ' ' + body);
        if (!bytes.starts_with(whole) || std::stol(number) <= last) {
            return false;
        }
        last = std::stol(number);
        bytes.remove_prefix(whole.size());
    }
    return true;
}

}  // namespace

TEST_CASE("hostile 16: a subscriber that never reads costs its backlog and no more", "[hostile]") {
    PublisherOptions options;
    options.backlog_bytes_max = 1'024 * 1'024;
    options.handshake_time_max = 40ms;  // short deadlines make the socket check often
    Arena arena(Victim::publisher, options, tcp_and_ipc());
    constexpr std::size_t sleepers_count = 5;
    std::vector<RawPeer> sleepers;
    for (std::size_t index = 0; index < sleepers_count; ++index) {
        sleepers.push_back(arena.join("", 4'096));
        sleepers.back().send(subscribe("t"));
    }
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == sleepers_count + 1; }));
    const std::size_t before = heap_in_use();
    const std::string body(10'000, 'x');
    for (int number = 0; number < 3'000; ++number) {
        arena.publisher().send("t", std::to_string(number) + ' ' + body);
        arena.turn();
    }
    CHECK(heap_in_use() < before + 3 * options.backlog_bytes_max);
    CHECK(arena.totals().dropped > 0);
    for (const PeerStatus& peer : arena.peers()) {
        CHECK(adds_up(peer));
        CHECK(peer.backlog_bytes <= options.backlog_bytes_max + options.segment_bytes);
    }
    CHECK(arena.peers().front().dropped == 0);
    CHECK(arena.turn_until([&] { return arena.events.count(Kind::dropped) > 0; }));
    CHECK(arena.others_are_well());

    // When it finally reads, every message is whole, and the newest are there.
    RawPeer& waker = sleepers.front();
    REQUIRE(arena.turn_until([&] {
        waker.read();
        return arena.peers().at(1).pending == 0;
    }));
    arena.turn();
    waker.read();
    const std::string_view read = std::string_view(waker.received()).substr(arena.hello().size());
    CHECK(are_whole_and_in_order(read, body));
    CHECK(read.ends_with(message("t", "2999 " + body)));
}

TEST_CASE("hostile 16: a router's peer that never reads fills its own backlog only", "[hostile]") {
    PublisherOptions options;
    options.backlog_bytes_max = 256 * 1'024;
    Arena arena(Victim::router, options, tcp_and_ipc());
    RawPeer sleeper = arena.join("sleeper", 4'096);
    const std::size_t before = heap_in_use();
    const std::string body(10'000, 'x');
    std::size_t full = 0;
    for (int number = 0; number < 2'000; ++number) {
        full += arena.router().send("sleeper", {body}) == SendStatus::full ? 1U : 0U;
        arena.turn();
    }
    CHECK(full > 0);
    CHECK(heap_in_use() < before + 4 * options.backlog_bytes_max);
    CHECK(arena.totals().dropped == 0);
    CHECK(adds_up(arena.totals()));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 16: data of a peer that floods a socket whose owner does not receive waits in the kernel",
          "[hostile]") {
    Bench bench;
    Router router(bench.reactor, {});
    const Endpoint endpoint = router.bind({Transport::tcp, "127.0.0.1", 0, {}});
    RawPeer peer(endpoint);
    peer.send(greeting() + ready("DEALER", "flood"));
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 1; }));
    const std::size_t before = heap_in_use();
    const std::string piece = frame(0, std::string(50'000, 'x'));
    std::size_t handed_over = 0;
    int refusals = 0;
    while (refusals < 20 && handed_over < 200'000'000) {
        if (peer.send()) {
            handed_over += piece.size();
            refusals += peer.send(piece) ? 0 : 1;
        } else {
            ++refusals;
        }
        bench.turn();
    }
    CHECK(refusals == 20);
    CHECK(heap_in_use() < before + 1'500'000);
    Inbox inbox(router);
    CHECK(bench.turn_until([&] {
        peer.send();
        return inbox.receive() == handed_over / piece.size();
    }));
}

TEST_CASE("hostile 17: a reset or a close in the middle of a frame, a header or a message ends only that session",
          "[hostile]") {
    const Transport transport = tcp_and_ipc();
    Arena arena(each_victim(), {}, transport);
    const bool by_reset = transport == Transport::tcp && GENERATE(true, false);
    const std::vector<std::string> beginnings = {
        std::string("\0", 1),
        announce(0, 1'000).substr(0, 5),
        announce(0, 1'000),
        frame(0, "body").substr(0, 4),
        announce(1, 60'000) + std::string(50'000, 'x'),
        frame(1, "topic"),
        frame(1, "topic") + frame(1, "more") + ping(""),
        std::string("\4\x09\4PI", 5),
    };
    for (const std::string& bytes : beginnings) {
        CAPTURE(bytes.size(), by_reset);
        RawPeer peer = arena.join("leaver");
        const std::uint64_t received = arena.totals().bytes_received;
        peer.send(bytes);
        static_cast<void>(arena.turn_until(
            [&] { return arena.totals().bytes_received > received + bytes.size() && peer.send(); }, 30ms));
        if (by_reset) {
            peer.reset();
        } else {
            peer.close();
        }
        REQUIRE(arena.turn_until([&] { return arena.peers().size() == 1; }));
        CHECK_FALSE(arena.events.detail(Kind::disconnected).empty());
    }
    CHECK(arena.received().empty());
    CHECK(arena.totals().violations == 0);
    CHECK(adds_up(arena.totals()));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 17: messages that arrived completely before a close are still delivered", "[hostile]") {
    Arena arena(GENERATE(Victim::router, Victim::dealer), {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    peer.send(greeting() + arena.peer_ready("leaver") + frame(0, "one") + message("two", "frames") + frame(1, "half"));
    peer.close();
    REQUIRE(arena.turn_until([&] { return arena.received().size() == 2; }));
    CHECK(arena.received() == std::vector<Frames>{{"one"}, {"two", "frames"}});
    CHECK(arena.turn_until([&] { return arena.peers().size() == 1; }));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 17: pending messages for a peer that resets its connection are dropped and counted", "[hostile]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = arena.join("", 4'096);
    peer.send(subscribe("t"));
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == 2; }));
    for (int number = 0; number < 15; ++number) {
        arena.publisher().send("t", std::string(1'024 * 1'024, 'x'));
    }
    arena.turn();
    const std::uint64_t pending = arena.peers().back().pending;
    REQUIRE(pending > 0);
    peer.reset();
    REQUIRE(arena.turn_until([&] { return arena.peers().size() == 1; }));
    CHECK(arena.totals().dropped >= 1);
    CHECK(arena.totals().dropped <= pending);
    CHECK(adds_up(arena.totals()));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 17: a peer that only ends its own writing is disconnected", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.join("half");
    ::shutdown(peer.socket(), SHUT_WR);
    CHECK(arena.is_cut(peer));
    CHECK(arena.peers().size() == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 17: a half-open connection is detected by heartbeats", "[hostile]") {
    PublisherOptions options;
    options.heartbeat_interval = 10ms;
    options.heartbeat_timeout = 60ms;
    Bench bench;
    Router router(bench.reactor, options);
    const Endpoint endpoint = router.bind({Transport::tcp, "127.0.0.1", 0, {}});
    RawPeer peer(endpoint);
    peer.send(greeting() + ready("DEALER", "ghost"));
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 1; }));
    CHECK(bench.turn_until([&] { return router.peers().empty(); }));
    CHECK(router.totals().heartbeat_timeouts == 1);
    CHECK(router.send("ghost", {"x"}) == SendStatus::unknown_peer);
}

TEST_CASE("hostile 23: a peer that reads one byte at a time gets every message whole", "[hostile]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = arena.join("", 4'096);
    peer.send(subscribe("t"));
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == 2; }));
    std::string expected = arena.hello();
    for (int number = 0; number < 400; ++number) {
        const std::string body(static_cast<std::size_t>(number) * 50, static_cast<char>('a' + number % 26));
        arena.publisher().send("t", body);
        expected += message("t", body);
        arena.reactor.poll();
        for (int byte = 0; byte < 100; ++byte) {
            peer.read(1);
        }
    }
    CHECK(arena.turn_until([&] {
        for (int byte = 0; byte < 997; ++byte) {
            peer.read(1 + static_cast<std::size_t>(byte) % 40);
        }
        return peer.received().size() >= expected.size();
    }));
    CHECK((peer.received() == expected));
    CHECK(arena.totals().dropped == 0);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 23: a peer that writes one byte at a time is handled like any other", "[hostile]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    const std::string bytes = greeting() + arena.peer_ready("slow") +
                              (victim == Victim::publisher ? subscribe("t") : message("a", std::string(300, 'b'))) +
                              ping("context");
    for (const char byte : bytes) {
        peer.send(std::string_view(&byte, 1));
        arena.turn();
    }
    CHECK(arena.gets(peer, pong("context")));
    if (victim == Victim::publisher) {
        arena.publisher().send("t", "payload");
        CHECK(arena.gets(peer, pong("context") + message("t", "payload")));
    } else if (victim != Victim::subscriber) {
        CHECK(arena.received() == std::vector<Frames>{{"a", std::string(300, 'b')}});
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 24: writing to peers that are gone raises no signal", "[hostile]") {
    struct sigaction action {};
    REQUIRE(::sigaction(SIGPIPE, nullptr, &action) == 0);
    REQUIRE(action.sa_handler == SIG_DFL);  // so that a signal would end this test
    const Transport transport = tcp_and_ipc();
    Arena publishing(Victim::publisher, {}, transport);
    Arena routing(Victim::router, {}, transport);
    for (int round = 0; round < 10; ++round) {
        RawPeer subscriber = publishing.join();
        subscriber.send(subscribe(""));
        REQUIRE(publishing.turn_until([&] { return publishing.publisher().totals().subscriptions == 2; }));
        RawPeer dealer = routing.join("leaver");
        subscriber.close();
        dealer.close();
        for (int number = 0; number < 10; ++number) {
            publishing.publisher().send("t", "payload");
            publishing.publisher().flush();
            static_cast<void>(routing.router().send("leaver", {"x"}));
            routing.router().flush();
        }
        REQUIRE(publishing.turn_until([&] { return publishing.peers().size() == 1; }));
        REQUIRE(routing.turn_until([&] { return routing.peers().size() == 1; }));
    }
    CHECK(adds_up(publishing.totals()));
    CHECK(adds_up(routing.totals()));
    CHECK(publishing.others_are_well());
    CHECK(routing.others_are_well());
}
