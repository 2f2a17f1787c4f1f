#include "core/sockets/socket_bench.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

// Whatever was sent before, unless the connection is full, a single message is on the peer's side of the connection
// after one iteration of the sender's event loop: in the kernel, or in the ring of an inproc link. The peer's loop runs
// only after that.

namespace {

/// The receiver's event loop, separate from the sender's.
struct Both : Bench {
    Reactor other;

    template <class Condition>
    bool both_until(Condition condition) {
        return eventually([&] {
            reactor.poll();
            other.poll();
            return condition();
        });
    }
};

template <class Socket>
bool has_sent_all(const Socket& socket, std::uint64_t messages) {
    const auto totals = socket.totals();
    return totals.sent == messages && totals.pending == 0;
}

/// Sends single messages repeatedly: directly after another one, with and without a read of the counts, after a burst.
template <class Socket, class Receiver>
void check_lone_messages(Both& bench, Socket& socket, Receiver& receiver,
                         const std::function<void(std::string)>& send) {
    Inbox inbox(receiver);
    std::uint64_t sent = 0;
    const auto lone = [&] {
        send(std::to_string(++sent));
        bench.reactor.poll();
        CHECK(has_sent_all(socket, sent));
    };
    for (int round = 0; round < 50; ++round) {
        lone();
        lone();
        send(std::to_string(++sent));
        send(std::to_string(++sent));
        (void)socket.totals();
        send(std::to_string(++sent));
        bench.reactor.poll();
        CHECK(has_sent_all(socket, sent));
        bench.other.poll();
        lone();
        CHECK(bench.both_until([&] { return inbox.receive() == sent; }));
    }
    for (std::size_t number = 0; number < sent; ++number) {
        CHECK(inbox.messages.at(number).back() == std::to_string(number + 1));
    }
}

Transport any_transport() {
    return GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
}

}  // namespace

TEST_CASE("a publisher's single message is sent within the iteration", "[core][sockets][lone]") {
    Both bench;
    const Transport transport = any_transport();
    Publisher publisher(bench.reactor, {});
    Subscriber subscriber(bench.other, {});
    subscriber.subscribe("");
    subscriber.connect(publisher.bind(fresh_endpoint(transport, bench.scratch.path())));
    const TopicId topic = publisher.intern("topic");
    const TopicId second = publisher.intern("second");
    REQUIRE(bench.both_until([&] { return publisher.wanted(topic); }));
    bool is_second = false;
    check_lone_messages(bench, publisher, subscriber, [&](const std::string& text) {
        is_second = !is_second;
        publisher.send(is_second ? second : topic, text);
    });
}

TEST_CASE("a router's single message is sent within the iteration", "[core][sockets][lone]") {
    Both bench;
    const Transport transport = any_transport();
    Router router(bench.reactor, {});
    SocketOptions named;
    named.identity = "dealer";
    Dealer dealer(bench.other, named);
    dealer.connect(router.bind(fresh_endpoint(transport, bench.scratch.path())));
    REQUIRE(bench.both_until([&] { return router.peers().size() == 1; }));
    check_lone_messages(bench, router, dealer,
                        [&](const std::string& text) { CHECK(router.send("dealer", {text}) == SendStatus::sent); });
}

TEST_CASE("a dealer's single message is sent within the iteration", "[core][sockets][lone]") {
    Both bench;
    const Transport transport = any_transport();
    Router router(bench.other, {});
    Dealer dealer(bench.reactor, {});
    dealer.connect(router.bind(fresh_endpoint(transport, bench.scratch.path())));
    REQUIRE(bench.both_until([&] { return dealer.peers().size() == 1; }));
    check_lone_messages(bench, dealer, router, [&](const std::string& text) {
        CHECK(dealer.send({"a", text}) == SendStatus::sent);
    });
}

TEST_CASE("a single message to a raw peer is in its socket within the iteration", "[core][sockets][lone]") {
    Bench bench;
    Router router(bench.reactor, {});
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const Endpoint endpoint = router.bind(fresh_endpoint(transport, bench.scratch.path()));
    RawSession peer(bench, endpoint, greeting() + ready("DEALER", "peer"), hello_of("ROUTER"));
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 1; }));
    std::string expected;
    for (int number = 0; number < 100; ++number) {
        CHECK(router.send("peer", {std::to_string(number)}) == SendStatus::sent);
        expected += frame(0, std::to_string(number));
        bench.reactor.poll();
        CHECK(eventually([&] { return peer.read() == expected; }));
    }
}

TEST_CASE("a message after much data that was written early is also sent within the iteration",
          "[core][sockets][lone]") {
    Both bench;
    Router router(bench.reactor, {});
    SocketOptions named;
    named.identity = "dealer";
    Dealer dealer(bench.other, named);
    dealer.connect(router.bind(fresh_endpoint(Transport::inproc, bench.scratch.path())));
    REQUIRE(bench.both_until([&] { return router.peers().size() == 1; }));
    const std::string much(300'000, 'x');  // is written before the end of the iteration
    CHECK(router.send("dealer", {much}) == SendStatus::sent);
    CHECK(router.send("dealer", {"lone"}) == SendStatus::sent);
    bench.reactor.poll();
    CHECK(has_sent_all(router, 2));
}

TEST_CASE("a message that a router's monitor sends during a flush, and the next one, are also sent",
          "[core][sockets][lone]") {
    Bench bench;
    Router router(bench.reactor, {});
    const Endpoint endpoint = router.bind(fresh_endpoint(Transport::ipc, bench.scratch.path()));
    RawSession stuck(bench, endpoint, greeting() + ready("DEALER", "stuck"), hello_of("ROUTER"), 4096);
    RawSession reading(bench, endpoint, greeting() + ready("DEALER", "reading"), hello_of("ROUTER"));
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 2; }));
    const std::string usual = frame(0, "x");
    std::string expected;
    router.set_monitor([&](const MonitorEvent& event) {
        if (event.kind == MonitorEventKind::slow) {
            (void)router.totals();  // so that the next message has to be marked again
            CHECK(router.send("reading", {"alarm"}) == SendStatus::sent);
            expected = usual + frame(0, "alarm");
        }
    });
    const std::string payload(100'000, 'x');
    while (expected.empty()) {
        REQUIRE(router.send("stuck", {payload}) == SendStatus::sent);
        REQUIRE(router.send("reading", {"x"}) == SendStatus::sent);
        router.flush();  // the blocked one comes first
        REQUIRE((!expected.empty() || bench.turn_until([&] { return reading.read().ends_with(usual); })));
    }
    CHECK(router.send("reading", {"last"}) == SendStatus::sent);
    CHECK(bench.turn_until([&] { return reading.read().ends_with(expected + frame(0, "last")); }));
}
