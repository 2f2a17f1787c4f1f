#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

PublisherOptions with_handshake_time(std::chrono::milliseconds time) {
    PublisherOptions options;
    options.handshake_time_max = time;
    return options;
}

}  // namespace

TEST_CASE("bytes that are no valid handshake end the connection and nothing else", "[core][publisher][hostile]") {
    auto [what, bytes] = GENERATE(table<std::string, std::string>({
        {"HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
        {"TLS", "\x16\x03\x01\x02" + std::string(100, '\1')},
        {"zeros", std::string(100, '\0')},
        {"signature without a version", "\xFF" + std::string(8, '\0') + "\x7E"},
        {"ZMTP 1", "\xFF" + std::string(8, '\0') + std::string("\x7F\0", 2)},
        {"ZMTP 2", "\xFF" + std::string(8, '\0') + "\x7F\1\5" + std::string(52, '\0')},
        {"CURVE", greeting().replace(12, 5, "CURVE")},
        {"message before READY", greeting() + frame(0, "hello")},
        {"subscription before READY", greeting() + subscribe("t")},
        {"ERROR", greeting() + command("ERROR", "\3bye")},
        {"READY of a DEALER", greeting() + ready("DEALER")},
        {"READY of a PUB", greeting() + ready("PUB")},
        {"READY of nonsense", greeting() + ready("NONSENSE")},
        {"READY without a type", greeting() + command("READY", "")},
        {"READY cut short", greeting() + command("READY", "\x0BSocket-Type" + big_endian(9, 4) + "SUB")},
        {"READY of 9 KiB", greeting() + command("READY", std::string(9 * 1024, 'x'))},
        {"frame of 2^63 bytes", greeting() + "\x06\x80" + std::string(7, '\0')},
        {"reserved flag", greeting() + ready("SUB").replace(0, 1, "\x0C")},
    }));
    CAPTURE(what);
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h({}, transport);
    RawPeer peer = h.connect();
    peer.send(bytes);
    CHECK(h.is_cut(peer));
    CHECK(peer.received().find("ERROR") == std::string::npos);
    CHECK(h.totals().handshakes_failed == 1);
    CHECK_FALSE(h.reason().empty());
    CHECK(h.arrivals.empty());
    CHECK(h.serves());
}

TEST_CASE("bytes that break the protocol after the handshake end the session and nothing else",
          "[core][publisher][hostile]") {
    auto [what, bytes] = GENERATE(table<std::string, std::string>({
        {"READY twice", ready("SUB")},
        {"ERROR", command("ERROR", "\3bye")},
        {"frame over the limit", "\x02" + big_endian(64 * 1024 + 1, 8)},
        {"frame of 2^63 bytes", "\x02" + big_endian(1ULL << 63U, 8)},
        {"frame of 2^63-1 bytes", "\x02" + big_endian((1ULL << 63U) - 1, 8)},
        {"command with MORE", std::string("\x05\0", 2)},
        {"reserved flag", std::string("\x80\0", 2)},
        {"empty command", frame(4, "")},
        {"command name beyond its frame", frame(4, "\x20PING")},
        {"PING without a TTL", command("PING", "\1")},
        {"PING with a long context", ping("seventeen bytes !")},
        {"HTTP", "GET / HTTP/1.1\r\n\r\n"},
    }));
    CAPTURE(what);
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    peer.send(bytes);
    CHECK(h.is_cut(peer));
    CHECK(peer.received() == publisher_hello());
    CHECK(h.departures.size() == 1);
    CHECK_FALSE(h.reason().empty());
    CHECK(h.totals().handshakes_failed == 0);
    CHECK(h.serves());
}

TEST_CASE("a frame of the allowed size that never comes harms nobody", "[core][publisher][hostile]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    peer.send("\x02" + big_endian(64 * 1024, 8));
    h.turn();
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
    CHECK(h.serves());
}

TEST_CASE("whoever leaves in the middle of the handshake is forgotten", "[core][publisher][hostile]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const std::size_t bytes = GENERATE(0U, 1U, 10U, 63U, 64U, 70U);
    CAPTURE(bytes);
    PublisherHarness h({}, transport);
    RawPeer peer = h.connect();
    peer.send((greeting() + ready("SUB")).substr(0, bytes));
    h.turn();
    peer.close();
    CHECK(h.turn_until([&] { return h.totals().handshakes_failed == 1; }));
    CHECK(h.departures.empty());
    CHECK(h.serves());
}

TEST_CASE("a silent connection is closed after the handshake's time", "[core][publisher][hostile]") {
    PublisherHarness h(with_handshake_time(20ms));
    RawPeer peer = h.connect();
    CHECK(h.is_cut(peer));
    CHECK(h.reason() == "no handshake in time");
    CHECK(h.totals().handshakes_failed == 1);
}

TEST_CASE("a greeting that trickles does not stretch the handshake's time", "[core][publisher][hostile]") {
    PublisherHarness h(with_handshake_time(50ms));
    RawPeer peer = h.connect();
    CHECK(h.turn_until([&] {
        peer.send("\xFF");
        peer.read();
        return peer.at_end() || peer.received().size() > greeting().size();
    }));
    CHECK(h.totals().handshakes_failed == 1);
    CHECK(h.arrivals.empty());
}

TEST_CASE("a finished handshake is not ended by its deadline", "[core][publisher][hostile]") {
    PublisherHarness h(with_handshake_time(30ms));
    RawPeer silent = h.connect();
    h.turn();
    RawPeer peer = h.subscriber();
    CHECK(h.is_cut(silent));
    RawPeer later = h.connect();
    CHECK(h.is_cut(later));
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
    CHECK(h.departures.empty());
}

TEST_CASE("a peer that resets its connection loses what was pending, counted", "[core][publisher][hostile]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({""}, 4096);
    h.publish("t", std::string(16 * 1024 * 1024, 'x'));
    REQUIRE(h.last_status().pending == 1);
    peer.reset();
    CHECK(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(h.departures.at(0).dropped == 1);
    CHECK(adds_up(h.totals()));
    CHECK(h.serves());
}

TEST_CASE("publishing to a peer that has just gone is no error", "[core][publisher][hostile]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h({}, transport);
    { const RawPeer peer = h.subscriber(); }
    for (int number = 0; number < 10; ++number) {
        h.commit("t", "x");
        h.publisher->flush();
    }
    CHECK(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(adds_up(h.totals()));
    CHECK(h.totals().pending == 0);
    CHECK(h.serves());
}

TEST_CASE("peers that come and go at random leave nothing behind", "[core][publisher][hostile]") {
    PublisherHarness h;
    std::vector<RawPeer> peers;
    for (int round = 0; round < 60; ++round) {
        peers.push_back(h.connect());
        const std::string bytes = greeting() + ready("SUB") + subscribe("t");
        peers.back().send(bytes.substr(0, static_cast<std::size_t>(round * 37) % (bytes.size() + 1)));
        h.publish("t", "x");
        if (round % 3 == 0) {
            peers[static_cast<std::size_t>(round) / 2].close();
        }
        REQUIRE(adds_up(h.totals()));
    }
    peers.clear();
    CHECK(h.turn_until([&] { return h.departures.size() + h.totals().handshakes_failed == 60; }));
    CHECK(h.publisher->subscribers().empty());
    CHECK(h.totals().pending == 0);
    CHECK(h.serves());
}
