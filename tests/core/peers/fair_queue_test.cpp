#include "core/sockets/socket_bench.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A bound router for peers that send raw bytes.
class QueueBench : public Bench {
  public:
    explicit QueueBench(Transport transport = Transport::ipc) : router(reactor, {}) {
        router.set_monitor(events.handler());
        endpoint = router.bind(fresh_endpoint(transport, scratch.path()));
    }
    RawSession peer(std::string_view identity) {
        return {*this, endpoint, greeting() + ready("DEALER", identity), hello_of("ROUTER")};
    }
    /// Returns the identities of the next batches in this event-loop iteration.
    std::vector<std::string> senders() {
        std::vector<std::string> result;
        while (router.receive(batch)) {
            CHECK_FALSE(batch.empty());
            result.emplace_back(batch.peer());
        }
        CHECK(batch.empty());
        return result;
    }

    MonitorLog events;
    Router router;
    MessageBatch batch;
    Endpoint endpoint;
};

std::string many(std::size_t count, std::size_t body_bytes) {
    std::string bytes;
    for (std::size_t number = 0; number < count; ++number) {
        bytes += frame(0, std::string(body_bytes, 'x'));
    }
    return bytes;
}

}  // namespace

TEST_CASE("a busy peer does not starve a quiet one", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    QueueBench bench(transport);
    RawSession busy = bench.peer("busy");
    RawSession quiet = bench.peer("quiet");
    const int on = 1;  // otherwise TCP would delay its second message
    ::setsockopt(quiet.peer.socket(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::string flood = many(1'000, 1'000);
    const auto keep_busy = [&] {
        return busy.peer.send() && busy.peer.send(flood);
    };
    for (int number = 0; number < 20; ++number) {
        keep_busy();
        bench.turn();
        quiet.peer.send(frame(0, "hello"));
        std::size_t batches_of_busy = 0;
        const bool heard = bench.turn_until([&] {
            keep_busy();
            bool found = false;
            for (const std::string& sender : bench.senders()) {
                found = found || sender == "quiet";
                batches_of_busy += found ? 0 : 1;
            }
            return found;
        });
        REQUIRE(heard);
        CHECK(batches_of_busy <= 8);
    }
}

TEST_CASE("one iteration takes no more than its share from a busy peer", "[core][sockets]") {
    QueueBench bench(Transport::tcp);
    RawSession busy = bench.peer("busy");
    const std::string flood = many(100'000, 10);
    busy.peer.send(flood);
    std::size_t messages = 0;
    std::size_t turns = 0;
    std::size_t most_in_a_turn = 0;
    REQUIRE(bench.turn_until([&] {
        busy.peer.send();
        std::size_t in_this_turn = 0;
        while (bench.router.receive(bench.batch)) {
            in_this_turn += bench.batch.size();
        }
        messages += in_this_turn;
        most_in_a_turn = std::max(most_in_a_turn, in_this_turn);
        ++turns;
        return messages == 100'000;
    }));
    CHECK(most_in_a_turn <= limits::frames_per_turn);
}

TEST_CASE("peers that are all busy take turns over any transport", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    QueueBench bench(transport);
    constexpr std::size_t peers = 3;
    Reactor other;
    std::vector<std::unique_ptr<Dealer>> dealers;
    for (std::size_t number = 0; number < peers; ++number) {
        dealers.push_back(std::make_unique<Dealer>(other, impatient(std::to_string(number))));
        dealers.back()->connect(bench.endpoint);
    }
    REQUIRE(bench.turn_until([&] {
        other.poll();
        return bench.router.peers().size() == peers;
    }));
    const std::string body(1'000, 'x');
    for (std::size_t number = 0; number < 20'000; ++number) {  // more than one iteration takes
        REQUIRE(dealers[number % peers]->send({body}) == SendStatus::sent);
    }
    CHECK(bench.turn_until([&] {
        other.poll();
        bench.reactor.poll();
        const std::vector<std::string> senders = bench.senders();
        const auto twice = std::adjacent_find(senders.begin(), senders.end());
        CHECK(std::all_of(twice, senders.end(), [&](const std::string& sender) { return sender == *twice; }));
        return bench.router.totals().received == 20'000;
    }));
}

TEST_CASE("a peer that violates the protocol during receive affects no other peer", "[core][sockets]") {
    QueueBench bench;
    RawSession bad = bench.peer("bad");
    RawSession good = bench.peer("good");
    RawSession other = bench.peer("other");
    bad.peer.send(frame(0, "last words") + "\xFF\xFF\xFF");
    good.peer.send(frame(0, "1"));
    other.peer.send(frame(0, "2"));
    std::vector<std::string> senders;
    REQUIRE(bench.turn_until([&] {
        for (std::string& sender : bench.senders()) {
            senders.push_back(std::move(sender));
        }
        return senders.size() == 3 && bench.router.peers().size() == 2;
    }));
    CHECK(std::count(senders.begin(), senders.end(), "bad") == 1);
    CHECK(bench.router.totals().violations == 1);
    good.peer.send(frame(0, "3"));
    CHECK(bench.turn_until([&] { return !bench.senders().empty(); }));
}

TEST_CASE("a peer that disconnects while its identity is taken over leaves the queue", "[core][sockets]") {
    QueueBench bench;
    RawSession leaving = bench.peer("leaving");
    RawSession staying = bench.peer("staying");
    leaving.peer.send(frame(1, "half"));
    bench.turn();
    leaving.peer.close();
    staying.peer.send(frame(0, "1"));
    std::vector<std::string> senders;
    REQUIRE(bench.turn_until([&] {
        for (std::string& sender : bench.senders()) {
            senders.push_back(std::move(sender));
        }
        return bench.router.peers().size() == 1 && senders.size() == 1;
    }));
    CHECK(senders == std::vector<std::string>{"staying"});
}

TEST_CASE("the readable handler is called once until receive returns nothing", "[core][sockets]") {
    QueueBench bench;
    RawSession one = bench.peer("one");
    RawSession two = bench.peer("two");
    int calls = 0;
    bench.router.set_on_readable([&] { ++calls; });
    one.peer.send(frame(0, "1"));
    two.peer.send(frame(0, "2"));
    REQUIRE(bench.turn_until([&] { return calls > 0; }));
    one.peer.send(frame(0, "3"));
    for (int turn = 0; turn < 5; ++turn) {
        bench.turn();
    }
    CHECK(calls == 1);
    CHECK(bench.senders().size() >= 2);
    two.peer.send(frame(0, "4"));
    CHECK(bench.turn_until([&] { return calls == 2; }));
    CHECK(bench.senders() == std::vector<std::string>{"two"});
}

TEST_CASE("a readable handler that is set late is called for messages that arrived before", "[core][sockets]") {
    QueueBench bench;
    RawSession peer = bench.peer("peer");
    peer.peer.send(frame(0, "1"));
    REQUIRE(bench.turn_until([&] { return bench.router.receive(bench.batch); }));
    bool first = false;
    bench.router.set_on_readable([&] { first = true; });
    peer.peer.send(frame(0, "2"));
    REQUIRE(bench.turn_until([&] { return first; }));
    bool second = false;
    bench.router.set_on_readable([&] {
        second = true;
        bench.router.set_on_readable({});  // and it may remove itself
    });
    REQUIRE(bench.turn_until([&] { return second; }));
    CHECK(bench.senders() == std::vector<std::string>{"peer"});
}

TEST_CASE("a socket that never receives replies to PING and detects that its peer disconnects",
          "[core][sockets][heartbeat]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const bool has_message = GENERATE(false, true);  // which is never received
    QueueBench bench(transport);
    RawSession peer = bench.peer("peer");
    peer.peer.send(ping("1", 300) + (has_message ? frame(0, "message") : ""));
    CHECK(bench.turn_until([&] { return peer.read() == pong("1"); }));
    if (!has_message) {
        peer.peer.send(ping("2"));
        CHECK(bench.turn_until([&] { return peer.read() == pong("1") + pong("2"); }));
        peer.peer.close();
        CHECK(bench.turn_until([&] { return bench.router.peers().empty(); }));
    } else {
        peer.peer.send(frame(0, "another") + ping("2"));
        bench.turn();
        peer.peer.close();
        REQUIRE(bench.router.receive(bench.batch));
        CHECK(bench.batch.size() == 1);
        CHECK(bench.batch[0].text(0) == "message");
        REQUIRE(bench.turn_until([&] { return bench.router.receive(bench.batch); }));
        CHECK(bench.batch[0].text(0) == "another");
        CHECK(bench.turn_until([&] { return bench.senders().empty() && bench.router.peers().empty(); }));
        CHECK(bench.router.totals().received == 2);
    }
}

TEST_CASE("data read ahead for one peer is intact after reading from other peers", "[core][sockets]") {
    QueueBench bench;
    RawSession first = bench.peer("first");
    RawSession second = bench.peer("second");
    for (int round = 0; round < 3; ++round) {
        const std::string body(1'000, static_cast<char>('a' + round));
        first.peer.send(frame(0, body));
        second.peer.send(frame(0, "x"));
        const std::uint64_t received = bench.router.totals().bytes_received;
        REQUIRE(bench.turn_until([&] { return bench.router.totals().bytes_received >= received + 1'000; }));
        second.peer.send(frame(0, std::string(100'000, 'y')));
        std::size_t messages = 0;
        REQUIRE(bench.turn_until([&] {
            while (bench.router.receive(bench.batch)) {
                messages += bench.batch.size();
                CHECK((bench.batch.peer() != "first" || bench.batch[0].text(0) == body));
            }
            return messages == 3;
        }));
    }
}

TEST_CASE("receive_for waits for the given time, but not after the first message", "[core][sockets]") {
    QueueBench bench;
    RawSession peer = bench.peer("peer");
    const auto before = std::chrono::steady_clock::now();
    CHECK_FALSE(bench.router.receive_for(bench.batch, std::chrono::milliseconds(0)));
    CHECK_FALSE(bench.router.receive_for(bench.batch, std::chrono::milliseconds(20)));
    CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(20));
    peer.peer.send(frame(0, "1"));
    REQUIRE(bench.router.receive_for(bench.batch, 2 * long_enough));
    CHECK(std::chrono::steady_clock::now() - before < long_enough);
    REQUIRE(bench.batch.size() == 1);
    CHECK(bench.batch[0].text(0) == "1");
    CHECK(bench.batch.peer() == "peer");
}

TEST_CASE("receive_for returns when its reactor is stopped", "[core][sockets]") {
    QueueBench bench;
    bench.reactor.stop();
    const auto before = std::chrono::steady_clock::now();
    CHECK_FALSE(bench.router.receive_for(bench.batch, 2 * long_enough));
    CHECK(std::chrono::steady_clock::now() - before < long_enough);
}

TEST_CASE("receive returns nothing in a monitor called during receive, and the outer batch stays intact",
          "[core][sockets]") {
    QueueBench bench;
    std::size_t inner = 0;
    bench.router.set_monitor([&](const MonitorEvent& event) {
        MessageBatch other;
        while (event.kind == MonitorEventKind::disconnected && bench.router.receive(other)) {
            inner += other.size();
        }
    });
    RawSession bad = bench.peer("bad");
    RawSession good = bench.peer("good");
    bad.peer.send(many(50, 900) + ready("DEALER", "bad"));
    good.peer.send(message("good", "1"));
    std::size_t of_bad = 0;
    std::size_t of_good = 0;
    CHECK(bench.turn_until([&] {
        while (bench.router.receive(bench.batch)) {
            for (const Message message : bench.batch) {
                if (bench.batch.peer() == "bad") {
                    of_bad += message.text(0) == std::string(900, 'x') ? 1U : 0U;
                } else {
                    of_good += message.text(0) == "good" ? 1U : 0U;
                }
            }
        }
        return of_bad == 50 && of_good == 1;
    }));
    CHECK(inner == 0);
}

TEST_CASE("a readable handler that throws before it has received is called again", "[core][sockets]") {
    QueueBench bench;
    std::size_t calls = 0;
    std::size_t received = 0;
    bench.router.set_on_readable([&] {
        if (++calls == 1) {
            throw std::runtime_error("not now");
        }
        while (bench.router.receive(bench.batch)) {
            received += bench.batch.size();
        }
    });
    RawSession peer = bench.peer("peer");
    peer.peer.send(many(3, 1));
    std::size_t caught = 0;
    CHECK(bench.turn_until([&] {
        try {
            bench.turn();
        } catch (const std::runtime_error&) {
            ++caught;
        }
        return received == 3;
    }));
    CHECK(caught == 1);
}

TEST_CASE("the maximum time can be passed to run_for, receive_for and close", "[core][sockets]") {
    QueueBench bench;
    RawSession peer = bench.peer("peer");
    bench.reactor.post([] {});
    CHECK(bench.reactor.run_for(std::chrono::milliseconds::max()));
    bench.reactor.post([&] { peer.peer.send(frame(0, "x")); });
    CHECK(bench.router.receive_for(bench.batch, std::chrono::milliseconds::max()));
    while (bench.router.send("peer", {std::string(100'000, 'x')}) == SendStatus::sent) {
    }
    bool is_done = false;
    bench.router.close(std::chrono::milliseconds::max(), [&] { is_done = true; });
    CHECK(bench.turn_until([&] {
        peer.peer.read();
        if (peer.peer.at_end()) {
            peer.peer.close();
        }
        return is_done;
    }));
    CHECK(bench.router.totals().dropped == 0);
}
