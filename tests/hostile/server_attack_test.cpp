// Our sockets connect, and meet a hostile peer instead of an honest one.
#include "hostile/no_descriptors.hpp"
#include "support/catch.hpp"
#include "support/raw_listener.hpp"
#include "support/socket_harness.hpp"
#include "support/zmtp_text.hpp"

#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// A dealer that connects to a raw peer, with short deadlines.
class DealerBench : public Bench {
  public:
    DealerBench() : dealer(reactor, options()) {
        dealer.set_monitor(events.handler());
        dealer.connect(listener.endpoint());
    }

    /// Returns the dealer's next connection.
    RawPeer meet() {
        std::vector<RawPeer> met;
        REQUIRE(turn_until([&] {
            if (auto peer = listener.accept()) {
                met.push_back(std::move(*peer));
            }
            return !met.empty();
        }));
        return std::move(met.front());
    }
    bool is_cut(RawPeer& peer) {
        return turn_until([&] {
            peer.read();
            return peer.at_end();
        });
    }
    static std::string hello() { return greeting() + ready("DEALER", "dealer"); }
    static std::string welcome() { return greeting() + ready("ROUTER", ""); }

    MonitorLog events;
    RawListener listener;
    Dealer dealer;

  private:
    static SocketOptions options() {
        SocketOptions out;
        out.identity = "dealer";
        out.handshake_time_max = 40ms;
        out.reconnect_first = 5ms;
        out.reconnect_max = 20ms;
        return out;
    }
};

}  // namespace

TEST_CASE("hostile server: one that replies with nonsense, or not at all, is retried until it is honest", "[hostile]") {
    DealerBench bench;
    REQUIRE(bench.dealer.send({"kept"}) == SendStatus::sent);
    const std::vector<std::string> answers = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\xFF" + std::string(63, '\xFF'),
        greeting().replace(12, 5, "CURVE"),
        greeting() + ready("PUB"),
        greeting() + frame(0, "no READY"),
        greeting() + announce(4, 1ULL << 40U),
        greeting() + command("ERROR", "\3bye"),
        "",
        greeting(),
    };
    for (const std::string& answer : answers) {
        CAPTURE(answer.substr(0, 80));
        RawPeer peer = bench.meet();
        peer.send(answer);
        CHECK(bench.is_cut(peer));
        CHECK(DealerBench::hello().starts_with(peer.received()));
    }
    CHECK(bench.dealer.totals().handshakes_failed == answers.size());
    CHECK(bench.events.count(Kind::handshake_failed) == answers.size());
    RawPeer honest = bench.meet();
    honest.send(DealerBench::welcome());
    CHECK(bench.turn_until([&] { return honest.read() == DealerBench::hello() + frame(0, "kept"); }));
    CHECK(bench.dealer.totals().sent == 1);
}

TEST_CASE("hostile server: one that closes every connection at once does not make us spin", "[hostile]") {
    DealerBench bench;
    const auto begin = std::chrono::steady_clock::now();
    std::size_t met = 0;
    CHECK(bench.turn_until([&] {
        met += bench.listener.accept() ? 1U : 0U;
        return met >= 3 && std::chrono::steady_clock::now() - begin > 200ms;
    }));
    CHECK(met <= 20);
    // Possibly only one side knows of the last connection yet.
    CHECK(bench.dealer.totals().connections_made + 1 >= met);
    CHECK(bench.dealer.totals().connections_made <= met + 1);
    CHECK(adds_up(bench.dealer.totals()));
}

TEST_CASE("hostile server: a message that was partly sent on a lost connection is sent again completely", "[hostile]") {
    DealerBench bench;
    const std::string body(8'000'000, 'x');
    REQUIRE(bench.dealer.send({"head", body}) == SendStatus::sent);
    REQUIRE(bench.dealer.send({"next"}) == SendStatus::sent);
    {
        RawPeer half = bench.meet();
        half.send(DealerBench::welcome());
        REQUIRE(bench.turn_until([&] { return half.read(10'000).size() > 5'000; }));
        half.reset();
    }
    RawPeer whole = bench.meet();
    whole.send(DealerBench::welcome());
    const std::string expected = DealerBench::hello() + message("head", body) + frame(0, "next");
    CHECK(bench.turn_until([&] { return whole.read().size() >= expected.size(); }));
    CHECK((whole.received() == expected));
    CHECK(bench.turn_until([&] { return bench.dealer.totals().sent == 2; }));
    CHECK(adds_up(bench.dealer.totals()));
    CHECK(bench.dealer.totals().dropped == 0);
}

TEST_CASE("hostile server: one that breaks the protocol later is disconnected and retried", "[hostile]") {
    DealerBench bench;
    for (std::uint64_t round = 1; round <= 3; ++round) {
        RawPeer peer = bench.meet();
        peer.send(DealerBench::welcome() + frame(0, "fine") + announce(0, 1ULL << 63U));
        Inbox inbox(bench.dealer);
        CHECK(bench.turn_until([&] {
            inbox.receive();
            peer.read();
            return peer.at_end();
        }));
        CHECK(inbox.messages == std::vector<Frames>{{"fine"}});
        CHECK(bench.dealer.totals().violations == round);
    }
}

TEST_CASE("hostile 20: without descriptors a connection is retried later", "[hostile]") {
    DealerBench bench;
    bench.meet().close();
    REQUIRE(bench.turn_until([&] { return bench.events.count(Kind::handshake_failed) == 1; }));
    {
        const NoDescriptors none;
        REQUIRE(bench.turn_until([&] { return bench.dealer.totals().connections_retried >= 2; }));
        CHECK_FALSE(bench.events.detail(Kind::retried).empty());
    }
    RawPeer next = bench.meet();
    next.send(DealerBench::welcome());
    CHECK(bench.turn_until([&] { return bench.dealer.peers().size() == 1; }));
}
