#include "core/sockets/socket_bench.hpp"

#include <memory>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A bound dealer for peers of raw bytes.
class DealerBench : public Bench {
  public:
    explicit DealerBench(SocketOptions options = {}, Transport transport = Transport::ipc)
        : dealer(reactor, std::move(options)), inbox(dealer) {
        endpoint = dealer.bind(fresh_endpoint(transport, scratch.path()));
    }
    RawSession raw(std::string_view type, int receive_buffer_bytes = 0) {
        const std::size_t before = dealer.peers().size();
        RawSession session(*this, endpoint, greeting() + ready(type, ""), hello_of("DEALER"), receive_buffer_bytes);
        REQUIRE(turn_until([&] { return dealer.peers().size() > before; }));
        return session;
    }
    bool reads(RawSession& peer, const std::string& expected) {
        return turn_until([&] { return peer.read() == expected; });
    }

    Dealer dealer;
    Inbox<Dealer> inbox;
    Endpoint endpoint;
};

}  // namespace

TEST_CASE("a dealer sends to its peers in turn", "[core][sockets]") {
    DealerBench bench;
    CHECK(bench.dealer.send({"nobody"}) == SendStatus::unknown_peer);
    RawSession one = bench.raw("DEALER");
    RawSession two = bench.raw("ROUTER");
    RawSession three = bench.raw("REP");
    for (const char* number : {"1", "2", "3", "4", "5", "6"}) {
        CHECK(bench.dealer.send({"", number}) == SendStatus::sent);
    }
    CHECK(bench.reads(one, message("", "1") + message("", "4")));
    CHECK(bench.reads(two, message("", "2") + message("", "5")));
    CHECK(bench.reads(three, message("", "3") + message("", "6")));
    two.peer.close();
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 0 && bench.dealer.peers().size() == 2; }));
    for (const char* number : {"7", "8"}) {
        CHECK(bench.dealer.send({"", number}) == SendStatus::sent);
    }
    CHECK(bench.turn_until([&] { return one.read().size() + three.read().size() == 6 * message("", "1").size(); }));
}

TEST_CASE("a dealer passes over a full peer, and is full when all peers are", "[core][sockets]") {
    SocketOptions options;
    options.backlog_bytes_max = 50'000;
    DealerBench bench(options, GENERATE(Transport::tcp, Transport::ipc));
    RawSession slow = bench.raw("DEALER", 4096);
    RawSession slower = bench.raw("DEALER", 4096);
    int writable = 0;
    bench.dealer.set_on_writable([&] { ++writable; });
    const std::string body(10'000, 'x');
    std::size_t sent = 0;
    const auto fill = [&] {
        while (bench.dealer.send({body}) == SendStatus::sent) {
            ++sent;
            bench.turn();
            REQUIRE(sent < 10'000);
        }
    };
    fill();
    CHECK(bench.dealer.send({body}) == SendStatus::full);
    CHECK(writable == 0);
    const std::size_t whole = frame(0, body).size();
    std::size_t before = slow.read().size();
    REQUIRE(bench.turn_until([&] {
        slow.read();
        return writable == 1;
    }));
    const std::size_t sent_before = sent;
    fill();  // all new messages go to the one with capacity
    REQUIRE(bench.turn_until([&] {
        before = slow.read().size();
        return bench.dealer.peers().at(0).pending == 0 || bench.dealer.peers().at(1).pending == 0;
    }));
    CHECK(sent > sent_before);
    REQUIRE(bench.turn_until([&] { return slow.read().size() + slower.read().size() == sent * whole; }));
    CHECK(slow.read().size() > slower.read().size());
    CHECK(bench.dealer.totals().dropped == 0);
    CHECK(adds_up(bench.dealer.totals()));
}

TEST_CASE("messages that a dealer sends before its peer is bound arrive in order", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    constexpr std::size_t count = 1'000;
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Dealer dealer(bench.reactor, impatient("dealer"));
    CHECK(dealer.send({"x"}) == SendStatus::unknown_peer);
    int writable = 0;
    dealer.set_on_writable([&] { ++writable; });
    CHECK(dealer.send({"x"}) == SendStatus::unknown_peer);
    dealer.connect(endpoint);
    CHECK(bench.turn_until([&] { return writable == 1; }));
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(dealer.send({std::to_string(number)}) == SendStatus::sent);
    }
    bench.turn();
    Router router(bench.reactor, {});
    Inbox inbox(router);
    router.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == count; }));
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(inbox.messages[number] == Frames{std::to_string(number)});
    }
}

TEST_CASE("a partly sent message whose peer dies is sent again from its start", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    const std::string large(12 * 1024 * 1024, 'x');
    Dealer dealer(bench.reactor, impatient("dealer"));
    dealer.connect(endpoint);
    auto first = std::make_unique<Router>(bench.reactor, SocketOptions{});
    first->bind(endpoint);
    REQUIRE(bench.turn_until([&] { return dealer.peers().size() == 1; }));
    REQUIRE(dealer.send({"head", large, "tail"}) == SendStatus::sent);
    REQUIRE(dealer.send({"next"}) == SendStatus::sent);
    dealer.flush();
    bench.turn();
    REQUIRE(dealer.peers().at(0).pending == 2);  // nothing is received
    REQUIRE(dealer.peers().at(0).bytes_sent > 1'000);
    first.reset();
    Router second(bench.reactor, {});
    Inbox inbox(second);
    second.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 2; }));
    CHECK((inbox.messages.at(0) == Frames{"head", large, "tail"}));
    CHECK(inbox.messages.at(1) == Frames{"next"});
    CHECK(adds_up(dealer.totals()));
}

TEST_CASE("messages pending for an accepted peer are dropped with it and counted", "[core][sockets]") {
    DealerBench bench;
    {
        const RawSession peer = bench.raw("DEALER");
        CHECK(bench.dealer.send({"1"}) == SendStatus::sent);
        CHECK(bench.dealer.send({std::string(16 * 1024 * 1024 - 100, 'x')}) == SendStatus::sent);
        bench.turn();
    }
    REQUIRE(bench.turn_until([&] { return bench.dealer.peers().empty(); }));
    CHECK(bench.dealer.send({"2"}) == SendStatus::unknown_peer);
    CHECK(bench.dealer.totals().matched == 2);
    CHECK(bench.dealer.totals().sent == 1);
    CHECK(bench.dealer.totals().dropped == 1);
}

TEST_CASE("a dealer sends in turn, within its limit, to endpoints that are not there yet", "[core][sockets]") {
    Bench bench;
    SocketOptions options = impatient();
    options.backlog_bytes_max = 100;
    Dealer dealer(bench.reactor, options);
    const Endpoint one = known_endpoint(Transport::ipc, bench.scratch);
    const Endpoint two = known_endpoint(Transport::inproc, bench.scratch);
    dealer.connect(one);
    dealer.connect(two);
    std::size_t sent = 0;
    while (dealer.send({"12345678"}) == SendStatus::sent) {  // 10 bytes on the wire
        ++sent;
        REQUIRE(sent <= 20);
    }
    CHECK(sent == 20);
    CHECK(dealer.send({"12345678"}) == SendStatus::full);
    int writable = 0;
    dealer.set_on_writable([&] { ++writable; });
    Router at_two(bench.reactor, {});
    Inbox inbox(at_two);
    at_two.bind(two);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 10 && writable == 1; }));
    CHECK(dealer.send({"12345678"}) == SendStatus::sent);
    CHECK(bench.turn_until([&] { return inbox.receive() == 11; }));
}

TEST_CASE("disconnecting an endpoint drops and counts its pending messages", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Dealer dealer(bench.reactor, impatient());
    dealer.connect(endpoint);
    CHECK(dealer.send({"1"}) == SendStatus::sent);
    CHECK(dealer.totals().pending == 1);
    CHECK(dealer.disconnect(endpoint));
    CHECK_FALSE(dealer.disconnect(endpoint));
    CHECK(dealer.send({"2"}) == SendStatus::unknown_peer);
    CHECK(dealer.totals().dropped == 1);
    CHECK(dealer.totals().pending == 0);

    Router router(bench.reactor, {});
    Inbox inbox(router);
    router.bind(endpoint);
    dealer.connect(endpoint);
    CHECK(dealer.send({"3"}) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.messages.at(0) == Frames{"3"});
    CHECK(dealer.disconnect(endpoint));
    CHECK(dealer.peers().empty());
    CHECK(dealer.send({"4"}) == SendStatus::unknown_peer);
    CHECK(bench.turn_until([&] { return inbox.receive() == 1 && router.peers().empty(); }));
}

TEST_CASE("a closing dealer sends pending messages within its grace period", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Router router(bench.reactor, {});
    Inbox inbox(router);
    router.bind(endpoint);
    Dealer dealer(bench.reactor, impatient());
    dealer.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return dealer.peers().size() == 1; }));
    for (int number = 0; number < 50; ++number) {
        REQUIRE(dealer.send({std::string(100'000, 'x')}) == SendStatus::sent);
    }
    bool is_done = false;
    dealer.close(std::chrono::seconds(10), [&] { is_done = true; });
    CHECK(dealer.send({"late"}) == SendStatus::unknown_peer);
    CHECK(bench.turn_until([&] {
        inbox.receive();
        return is_done;
    }));
    CHECK(bench.turn_until([&] { return inbox.receive() == 50; }));
    CHECK(dealer.totals().dropped == 0);
    CHECK(adds_up(dealer.totals()));
}

TEST_CASE("two dealers on two threads exchange everything that they send", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::inproc, Transport::ipc);
    constexpr std::size_t count = 10'000;
    const ScratchDir scratch;
    const Endpoint endpoint = known_endpoint(transport, scratch);
    std::atomic<std::size_t> received{0};
    std::atomic<bool> in_order{true};
    MessageBatch batch;
    const SocketThread<Dealer> far(impatient(), [&](Dealer& dealer) {
        dealer.connect(endpoint);
        dealer.set_on_readable([&] {
            while (dealer.receive(batch)) {
                for (const Message message : batch) {
                    in_order = in_order && message.text(0) == std::to_string(received++);
                    in_order = in_order && dealer.send({message.text(0)}) == SendStatus::sent;
                }
            }
        });
    });
    Bench bench;
    Dealer near(bench.reactor, {});
    Inbox inbox(near);
    near.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return near.peers().size() == 1; }));
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(near.send({std::to_string(number)}) == SendStatus::sent);
        if (number % 500 == 0) {
            bench.turn();
            inbox.receive();
        }
    }
    CHECK(bench.turn_until([&] { return inbox.receive() == count; }));
    CHECK(received == count);
    CHECK(in_order);
}
