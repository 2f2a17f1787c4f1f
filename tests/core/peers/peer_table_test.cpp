#include "peers/peer_table.hpp"

#include "core/peers/accepted.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_listener.hpp"
#include "support/socket_harness.hpp"
#include "support/zmtp_text.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// A table of DEALER sessions that takes and discards all messages.
class TableBench : public Bench {
  public:
    explicit TableBench(const SocketOptions& options = {}, bool keep_outbox = false)
        : table(reactor, options, {zmtp::SocketType::dealer, 64 * 1024, keep_outbox}, session_events()) {
        table.set_monitor(log.handler());
        endpoint = table.bind(any_port);
    }

    RawPeer connect() { return RawPeer(endpoint); }
    /// Connects a peer that finishes its handshake.
    RawPeer join() {
        RawPeer peer = connect();
        shake_hands(peer);
        return peer;
    }
    void shake_hands(RawPeer& peer) {
        const std::size_t before = opened.size();
        peer.send(greeting() + ready("ROUTER"));
        REQUIRE(turn_until([&] { return opened.size() > before; }));
    }
    bool is_cut(RawPeer& peer) {
        return turn_until([&] {
            peer.read();
            return peer.at_end();
        });
    }
    Session& last_opened() { return *table.find(opened.back()); }

    MessageBatch batch;
    MonitorLog log;
    std::vector<std::uint64_t> opened;
    std::vector<std::string> ended;
    std::function<void(Session&)> on_ended;
    std::function<void()> on_command;
    PeerTable table;
    Endpoint endpoint;

  private:
    SessionEvents session_events() {
        SessionEvents events;
        events.opened = [this](Session& session) {
            opened.push_back(session.id());
        };
        events.readable = [this](Session& session) {
            (void)session.receive(batch);
            batch.clear();
        };
        events.command = [this](Session&, const zmtp::Command&) {
            on_command();
        };
        events.ended = [this](Session& session, std::string_view why) {
            ended.emplace_back(why);
            if (on_ended) {
                on_ended(session);
            }
        };
        return events;
    }
};

void append(Outbox& outbox, std::string_view text) {
    const Bytes frame = as_bytes(text);
    outbox.append(std::span(&frame, 1));
}

std::string dealer_hello() {
    return greeting() + ready("DEALER", "");
}

}  // namespace

TEST_CASE("when one address has too many unfinished handshakes, the oldest is closed", "[core][peers]") {
    SocketOptions options;
    options.handshakes_per_address_max = 2;
    TableBench bench(options);
    RawPeer first = bench.connect();
    REQUIRE(bench.turn_until([&] { return bench.table.totals().connections_accepted == 1; }));
    RawPeer second = bench.connect();
    REQUIRE(bench.turn_until([&] { return bench.table.totals().connections_accepted == 2; }));
    RawPeer third = bench.connect();
    CHECK(bench.is_cut(first));
    CHECK(bench.ended == std::vector<std::string>{"too many handshakes at once"});
    bench.shake_hands(second);
    bench.shake_hands(third);
    CHECK(bench.table.totals().handshakes_failed == 1);
    CHECK(bench.table.totals().connections_refused == 0);
}

TEST_CASE("ipc has no address, so only the limit of all handshakes applies", "[core][peers]") {
    SocketOptions options;
    options.handshakes_per_address_max = 1;
    TableBench bench(options);
    const Endpoint ipc = bench.table.bind({Transport::ipc, "", 0, bench.scratch.path("table.sock")});
    RawPeer first(ipc);
    RawPeer second(ipc);
    bench.shake_hands(first);
    bench.shake_hands(second);
    CHECK(bench.ended.empty());
}

TEST_CASE("at the session limit a new connection displaces an unfinished handshake, never an open session",
          "[core][peers]") {
    SocketOptions options;
    options.sessions_max = 2;
    TableBench bench(options);
    const RawPeer open = bench.join();
    RawPeer unfinished = bench.connect();
    REQUIRE(bench.turn_until([&] { return bench.table.totals().connections_accepted == 2; }));
    const RawPeer newcomer = bench.join();
    CHECK(bench.is_cut(unfinished));
    RawPeer refused = bench.connect();
    CHECK(bench.is_cut(refused));
    CHECK(bench.table.totals().connections_refused == 1);
    CHECK(bench.log.detail(Kind::refused) == "too many connections");
    CHECK(bench.table.sessions().size() == 2);
}

TEST_CASE("a session knows its index in the table when other sessions end", "[core][peers]") {
    TableBench bench;
    std::vector<RawPeer> peers;
    for (int number = 0; number < 8; ++number) {
        peers.push_back(bench.join());
    }
    for (const std::size_t leaving : {std::size_t{0}, std::size_t{3}, std::size_t{5}, std::size_t{7}}) {
        const std::size_t before = bench.ended.size();
        peers[leaving].close();
        REQUIRE(bench.turn_until([&] { return bench.ended.size() == before + 1; }));
        for (std::size_t index = 0; index < bench.table.sessions().size(); ++index) {
            CHECK(bench.table.sessions()[index]->index() == index);
        }
    }
    CHECK(bench.table.find(bench.opened[0]) == nullptr);
    CHECK(bench.table.find(bench.opened[1]) != nullptr);
}

TEST_CASE("a marked session is written once with the next flush", "[core][peers]") {
    TableBench bench;
    RawPeer peer = bench.join();
    Session& session = bench.last_opened();
    append(*session.outbox(), "one");
    bench.table.mark(session);
    bench.table.mark(session);
    const std::uint64_t flushes = bench.table.flushes();
    bench.table.flush();
    CHECK(bench.table.flushes() > flushes);
    CHECK(session.outbox()->sent() == 1);
    append(*session.outbox(), "two");
    bench.table.flush_soon(session);
    CHECK(session.outbox()->sent() == 1);
    CHECK(bench.turn_until([&] { return peer.read() == dealer_hello() + frame(0, "one") + frame(0, "two"); }));
}

TEST_CASE("a session that ends before the flush it was marked for is not written", "[core][peers]") {
    TableBench bench;
    const RawPeer first = bench.join();
    Session& leaving = bench.last_opened();
    RawPeer second = bench.join();
    Session& staying = bench.last_opened();
    append(*leaving.outbox(), "lost");
    append(*staying.outbox(), "kept");
    bench.table.flush_soon(leaving);
    bench.table.flush_soon(staying);
    leaving.close("gone");
    bench.table.mark(leaving);  // it still exists in this iteration
    CHECK(bench.turn_until([&] { return second.read() == dealer_hello() + frame(0, "kept"); }));
    CHECK(bench.table.totals().dropped == 1);
    CHECK(adds_up(bench.table.totals()));
}

TEST_CASE("a socket may mark and flush while a session ends", "[core][peers]") {
    TableBench bench;
    const RawPeer first = bench.join();
    RawPeer second = bench.join();
    Session& staying = bench.last_opened();
    bench.on_ended = [&](Session& session) {
        append(*staying.outbox(), "bye");
        bench.table.mark(session);
        bench.table.flush_soon(staying);
        bench.table.flush();
    };
    bench.table.sessions().front()->close("gone");
    CHECK(bench.turn_until([&] { return second.read() == dealer_hello() + frame(0, "bye"); }));
}

TEST_CASE("messages for a connected endpoint are kept across its connections", "[core][peers][connect]") {
    TableBench bench(with_short_pauses(), true);
    RawListener listener;
    const std::shared_ptr<Outbox> outbox = bench.table.connect(listener.endpoint(), {});
    REQUIRE(outbox != nullptr);
    append(*outbox, "before");
    CHECK(bench.table.totals().pending == 1);
    {
        RawPeer peer = accepted(bench, listener);
        bench.shake_hands(peer);
        CHECK(bench.turn_until([&] { return peer.read() == dealer_hello() + frame(0, "before"); }));
    }
    REQUIRE(bench.turn_until([&] { return bench.ended.size() == 1; }));
    append(*outbox, "between");
    CHECK(bench.table.totals().matched == 2);
    CHECK(bench.table.totals().pending == 1);
    RawPeer peer = accepted(bench, listener);
    bench.shake_hands(peer);
    CHECK(bench.turn_until([&] { return peer.read() == dealer_hello() + frame(0, "between"); }));
    CHECK(bench.table.totals().sent == 2);
    CHECK(adds_up(bench.table.totals()));
}

TEST_CASE("messages kept for an endpoint are dropped by disconnect, counted and reported", "[core][peers][connect]") {
    TableBench bench({}, true);
    RawListener listener;
    const std::shared_ptr<Outbox> outbox = bench.table.connect(listener.endpoint(), {});
    append(*outbox, "1");
    append(*outbox, "2");
    const bool is_connected = GENERATE(true, false);
    if (is_connected) {
        REQUIRE(bench.turn_until([&] { return bench.table.totals().connections_made == 1; }));
    }
    CHECK(bench.table.disconnect(listener.endpoint()));
    CHECK(bench.table.totals().dropped == 2);
    CHECK(bench.table.totals().pending == 0);
    CHECK(adds_up(bench.table.totals()));
    REQUIRE(bench.log.count(Kind::dropped) == 1);
    bench.turn();
    CHECK(bench.table.totals().dropped == 2);
}

TEST_CASE("closing drops messages for endpoints that were never reached", "[core][peers][connect]") {
    TableBench bench({}, true);
    std::optional<RawListener> listener(std::in_place);
    const Endpoint endpoint = listener->endpoint();
    listener.reset();
    append(*bench.table.connect(endpoint, {}), "x");
    int done = 0;
    bench.table.close(60s, [&] { ++done; });
    CHECK(bench.turn_until([&] { return done == 1; }));
    CHECK(bench.table.totals().dropped == 1);
    CHECK(bench.table.is_closing());
}

TEST_CASE("a router keeps no messages for an endpoint without an alias", "[core][peers][connect]") {
    Reactor reactor;
    PeerTable table(reactor, {}, {zmtp::SocketType::router, 64 * 1024, true}, {});
    CHECK(table.connect({Transport::inproc, "", 0, "nobody"}, {}) == nullptr);
    CHECK(table.connect({Transport::inproc, "", 0, "nobody"}, "alias") != nullptr);
}

TEST_CASE("a connection that cannot be made is retried, even if the monitor throws", "[core][peers][connect]") {
    TableBench bench(with_short_pauses());
    std::optional<RawListener> listener(std::in_place);
    const Endpoint endpoint = listener->endpoint();
    listener.reset();
    int told = 0;
    int passed_on = 0;
    bench.table.set_monitor([&](const MonitorEvent& event) {
        if (event.kind == Kind::retried) {
            ++told;
            throw std::runtime_error("a monitor's own");
        }
    });
    bench.table.connect(endpoint, {});
    CHECK(eventually([&] {
        try {
            bench.turn();
        } catch (const std::runtime_error&) {
            ++passed_on;
        }
        return passed_on == 3;
    }));
    CHECK(told >= 3);
}

TEST_CASE("silent peers and peers that violate the protocol are counted separately", "[core][peers]") {
    SocketOptions options;
    options.heartbeat_interval = 20ms;
    options.heartbeat_timeout = 60ms;
    TableBench bench(options);
    const RawPeer silent = bench.join();
    CHECK(bench.turn_until([&] { return bench.table.totals().heartbeat_timeouts == 1; }));
    RawPeer violator = bench.join();
    violator.send("\x80");
    CHECK(bench.turn_until([&] { return bench.table.totals().violations == 1; }));
    CHECK(bench.table.totals().handshakes_failed == 0);
    CHECK(bench.log.count(Kind::disconnected) == 2);
}

TEST_CASE("a table may be destroyed at any moment", "[core][peers]") {
    std::optional<TableBench> bench(std::in_place);
    auto table = std::make_unique<PeerTable>(
        bench->reactor, SocketOptions{}, PeerTableOptions{zmtp::SocketType::dealer, 64 * 1024, true}, SessionEvents{});
    const Endpoint endpoint = table->bind(any_port);
    table->connect(bench->endpoint, {});
    const RawPeer peer(endpoint);
    const int turns = GENERATE(range(0, 12));
    for (int turn = 0; turn < turns; ++turn) {
        bench->turn();
    }
    table->close(0ms, [] { FAIL("the table is gone"); });
    table.reset();
    for (int turn = 0; turn < 5; ++turn) {
        bench->turn();
    }
}

TEST_CASE("a table without sessions sets no timer", "[core][peers]") {
    TableBench bench;
    { const RawPeer peer = bench.join(); }
    REQUIRE(bench.turn_until([&] { return bench.ended.size() == 1; }));
    while (bench.reactor.run_for(300ms)) {  // the last tick, and posted calls
    }
    CHECK_FALSE(bench.reactor.run_for(600ms));
}
