#include "core/sockets/router_bench.hpp"
#include "zmtp/frame.hpp"

#include <memory>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("peers without an identity get different ones of five bytes, the first zero", "[core][sockets]") {
    RouterBench bench;
    RawSession empty = bench.raw("DEALER", "");
    RawSession another = bench.raw("DEALER", "");
    RawSession none(bench, bench.endpoint, greeting() + ready("REQ"), hello_of("ROUTER"));
    empty.peer.send(frame(0, "empty"));
    another.peer.send(frame(0, "another"));
    none.peer.send(frame(0, "none"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 3; }));
    for (std::size_t index = 0; index < 3; ++index) {
        const std::string identity = bench.inbox.peers[index];
        CHECK(identity.size() == 5);
        CHECK(identity[0] == '\0');
        CHECK(bench.router.send(identity, {bench.inbox.messages[index][0]}) == SendStatus::sent);
    }
    CHECK(bench.reads(empty, frame(0, "empty")));
    CHECK(bench.reads(another, frame(0, "another")));
    CHECK(bench.reads(none, frame(0, "none")));
}

TEST_CASE("an unknown peer and a full one are distinguished, and nothing is sent in part", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    SocketOptions options;
    options.backlog_bytes_max = 100'000;
    RouterBench bench(transport, options);
    CHECK(bench.router.send("peer", {"x"}) == SendStatus::unknown_peer);
    CHECK(bench.router.send("", {"x"}) == SendStatus::unknown_peer);
    RawSession peer = bench.raw("DEALER", "peer", 4096);
    std::vector<std::string> writable;
    bench.router.set_on_writable([&](std::string_view identity) { writable.emplace_back(identity); });

    const std::string body(10'000, 'x');
    std::string expected;
    int sent = 0;
    while (bench.router.send("peer", {std::to_string(sent), body}) == SendStatus::sent) {
        expected += message(std::to_string(sent++), body);
        bench.turn();
        REQUIRE(sent < 10'000);
    }
    CHECK(bench.router.send("peer", {"more", body}) == SendStatus::full);
    CHECK(bench.router.send("other", {"more", body}) == SendStatus::unknown_peer);
    CHECK(bench.router.peers().at(0).backlog_bytes <= 100'000);
    CHECK(writable.empty());

    REQUIRE(bench.turn_until([&] { return peer.read().size() == expected.size(); }));
    CHECK(peer.read() == expected);
    REQUIRE(bench.turn_until([&] { return !writable.empty(); }));
    CHECK(writable == std::vector<std::string>{"peer"});
    CHECK(bench.router.send("peer", {"again"}) == SendStatus::sent);
    CHECK(bench.reads(peer, expected + frame(0, "again")));
    CHECK(bench.router.totals().dropped == 0);
}

TEST_CASE("a sender waiting for capacity is notified that a peer is gone, although its data is not taken",
          "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    SocketOptions options;
    options.backlog_bytes_max = 100'000;
    RouterBench bench(transport, options);
    RawSession peer = bench.raw("DEALER", "peer", 4096);
    std::vector<std::string> writable;
    bench.router.set_on_writable([&](std::string_view identity) { writable.emplace_back(identity); });
    const std::string body(10'000, 'x');
    while (bench.router.send("peer", {body}) == SendStatus::sent) {
        bench.turn();
    }
    peer.peer.send(frame(0, "untaken"));
    bench.turn();
    peer.peer.close();  // with much unread data, so that the connection is reset
    REQUIRE(bench.turn_until([&] { return !writable.empty(); }));
    CHECK(writable == std::vector<std::string>{"peer"});
    CHECK(bench.router.send("peer", {"x"}) == SendStatus::unknown_peer);
    CHECK(bench.router.totals().dropped > 0);
    CHECK(adds_up(bench.router.totals()));
}

TEST_CASE("a full peer does not block another, and an oversized message is sent when nothing is pending",
          "[core][sockets]") {
    SocketOptions options;
    options.backlog_bytes_max = 1'000;
    RouterBench bench(Transport::ipc, options);
    RawSession slow = bench.raw("DEALER", "slow", 4096);
    RawSession good = bench.raw("DEALER", "good");
    const std::string large(8 * 1024 * 1024, 'x');
    CHECK(bench.router.send("slow", {large}) == SendStatus::sent);
    CHECK(bench.router.send("slow", {"x"}) == SendStatus::full);
    CHECK(bench.router.send("good", {"x"}) == SendStatus::sent);
    CHECK(bench.reads(good, frame(0, "x")));
    CHECK(bench.turn_until([&] { return slow.read().size() == frame(0, large).size(); }));
    CHECK(bench.turn_until([&] { return bench.router.send("slow", {"y"}) == SendStatus::sent; }));
    CHECK(bench.reads(slow, frame(0, large) + frame(0, "y")));
}

TEST_CASE("the writable handler is called for each peer that connects and can be sent to", "[core][sockets]") {
    RouterBench bench;
    std::vector<std::string> come;
    bench.router.set_on_writable([&](std::string_view identity) {
        come.emplace_back(identity);
        CHECK(bench.router.send(identity, {"welcome"}) == SendStatus::sent);
    });
    RawSession one = bench.raw("DEALER", "one");
    RawSession two = bench.raw("ROUTER", "two");
    CHECK(bench.reads(one, frame(0, "welcome")));
    CHECK(bench.reads(two, frame(0, "welcome")));
    CHECK(come == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a REQ envelope is delivered unchanged, with and without correlation", "[core][sockets]") {
    RouterBench bench;
    RawSession plain = bench.raw("REQ", "plain");
    RawSession correlated = bench.raw("REQ", "correlated");
    plain.peer.send(frame(1, "") + frame(0, "question"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    const std::string number("\0\0\0\7", 4);
    correlated.peer.send(frame(1, number) + frame(1, "") + frame(1, "two") + frame(0, "frames"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 2; }));
    CHECK(bench.inbox.messages == std::vector<Frames>{{"", "question"}, {number, "", "two", "frames"}});
    CHECK(bench.router.send("plain", {"", "answer"}) == SendStatus::sent);
    CHECK(bench.router.send("correlated", {number, "", "answer"}) == SendStatus::sent);
    CHECK(bench.reads(plain, frame(1, "") + frame(0, "answer")));
    CHECK(bench.reads(correlated, frame(1, number) + frame(1, "") + frame(0, "answer")));
}

TEST_CASE("an unfinished message of a dying peer is not delivered", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    RouterBench bench(transport);
    RawSession dying = bench.raw("DEALER", "dying");
    RawSession other = bench.raw("DEALER", "other");
    dying.peer.send(message("whole", "1") + frame(1, "half") + frame(1, "still half"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    dying.peer.send(frame(1, "more") + "\1\xFF" + "a part of a frame");
    bench.turn();
    dying.peer.close();
    other.peer.send(message("whole", "2"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 2 && bench.router.peers().size() == 1; }));
    CHECK(bench.inbox.messages == std::vector<Frames>{{"whole", "1"}, {"whole", "2"}});
}

TEST_CASE("messages that arrived before the end of the stream are delivered", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    RouterBench bench(transport);
    RawSession leaving = bench.raw("DEALER", "leaving");
    std::string bytes;
    for (int number = 0; number < 1'000; ++number) {
        bytes += message("t", std::to_string(number));
    }
    REQUIRE(leaving.peer.send(bytes));
    leaving.peer.close();
    REQUIRE(bench.turn_until([&] {
        bench.inbox.receive();
        return bench.router.peers().empty();
    }));
    REQUIRE(bench.inbox.messages.size() == 1'000);
    CHECK(bench.inbox.messages.back() == Frames{"t", "999"});
}

TEST_CASE("a message longer than one read, of many frames, arrives whole", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    RouterBench bench(transport);
    const auto dealer = bench.dealer("dealer");
    Frames frames;
    for (std::size_t number = 0; number < 1'000; ++number) {
        frames.emplace_back(number * 7, static_cast<char>(number));
    }
    REQUIRE(send_frames(*dealer, frames) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    CHECK((bench.inbox.messages.at(0) == frames));
    REQUIRE(send_frames(bench.router, frames, "dealer") == SendStatus::sent);
    Inbox at_dealer(*dealer);
    REQUIRE(bench.turn_until([&] { return at_dealer.receive() == 1; }));
    CHECK((at_dealer.messages.at(0) == frames));
}

TEST_CASE("flush writes sent messages at once", "[core][sockets]") {
    RouterBench bench;
    RawSession peer = bench.raw("DEALER", "peer");
    CHECK(bench.router.send("peer", {"x"}) == SendStatus::sent);
    CHECK(bench.router.peers().at(0).pending == 1);
    bench.router.flush();
    CHECK(bench.router.peers().at(0).sent == 1);
    CHECK(peer.read() == frame(0, "x"));
}

TEST_CASE("much data sent in one iteration does not wait for its end", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    RouterBench bench(transport);
    const auto dealer = bench.dealer("dealer");
    REQUIRE(bench.turn_until([&] { return bench.router.peers().size() == 1; }));
    const std::size_t frame_bytes = limits::short_bytes_in_process + GENERATE(std::size_t{0}, std::size_t{1});
    const bool is_long_in_process = transport == Transport::inproc && frame_bytes > limits::short_bytes_in_process;
    const std::size_t flush_bytes = is_long_in_process ? limits::flush_bytes_in_process : limits::flush_bytes;
    const std::string body(frame_bytes - zmtp::frame_header_bytes_max, 'x');
    const auto send = [&] {
        REQUIRE(bench.router.send("dealer", {body}) == SendStatus::sent);
    };
    const std::size_t messages = (flush_bytes - 1) / frame_bytes;
    for (std::size_t number = 0; number < messages; ++number) {
        send();
    }
    CHECK(bench.router.peers().at(0).sent == 0);
    send();
    CHECK(bench.router.peers().at(0).sent > 0);
}

TEST_CASE("a closing router sends pending messages and then knows no peer", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    RouterBench bench(transport);
    const auto dealer = bench.dealer("dealer");
    Inbox inbox(*dealer);
    REQUIRE(bench.turn_until([&] { return bench.router.peers().size() == 1; }));
    const std::string body(100'000, 'x');
    for (int number = 0; number < 50; ++number) {
        REQUIRE(bench.router.send("dealer", {body}) == SendStatus::sent);
    }
    bool is_done = false;
    bench.router.close(std::chrono::seconds(10), [&] { is_done = true; });
    CHECK(bench.router.send("dealer", {"late"}) == SendStatus::unknown_peer);
    CHECK(bench.turn_until([&] { return inbox.receive() == 50; }));
    CHECK(bench.turn_until([&] {
        inbox.receive();
        return is_done;
    }));
    CHECK(bench.router.totals().dropped == 0);
    CHECK(bench.router.totals().sent == 50);
}

TEST_CASE("a router can be destroyed while messages are pending and peers are active, then its reactor",
          "[core][sockets]") {
    RouterBench bench;
    auto router = std::make_unique<Router>(bench.reactor, SocketOptions{});
    const Endpoint endpoint = router->bind(fresh_endpoint(Transport::tcp, bench.scratch.path()));
    router->connect(bench.endpoint);
    router->connect(bench.endpoint, "alias");
    REQUIRE(router->send("alias", {"waits"}) == SendStatus::sent);
    RawSession peer(bench, endpoint, greeting() + ready("DEALER", "peer"), hello_of("ROUTER"), 4096);
    REQUIRE(bench.turn_until(
        [&] { return router->send("peer", {std::string(16 * 1024 * 1024, 'x')}) == SendStatus::sent; }));
    peer.peer.send(message("a", "b") + frame(1, "half"));
    bench.turn();
    router.reset();
    CHECK(bench.turn_until([&] {
        peer.read();
        return peer.peer.at_end();
    }));
}

TEST_CASE("a router and a dealer on two threads reply to each other", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::inproc, Transport::tcp);
    constexpr std::size_t count = 5'000;
    const ScratchDir scratch;
    const Endpoint endpoint = known_endpoint(transport, scratch);
    MessageBatch batch;
    const SocketThread<Router> echo(SocketOptions{}, [&](Router& router) {
        router.bind(endpoint);
        router.set_on_readable([&] {
            while (router.receive(batch)) {
                for (const Message message : batch) {
                    std::vector<Bytes> frames(message.begin(), message.end());
                    (void)router.send(batch.peer(), frames);
                }
            }
        });
    });
    Bench bench;
    Dealer dealer(bench.reactor, impatient());
    Inbox inbox(dealer);
    dealer.connect(endpoint);
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(dealer.send({"", std::to_string(number)}) == SendStatus::sent);
        if (number % 100 == 0) {
            bench.turn();
            inbox.receive();
        }
    }
    REQUIRE(bench.turn_until([&] { return inbox.receive() == count; }));
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(inbox.messages[number] == Frames{"", std::to_string(number)});
    }
}
