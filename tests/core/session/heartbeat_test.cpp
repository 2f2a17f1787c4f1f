#include "session/heartbeat.hpp"

#include "core/limits.hpp"
#include "core/session/session_harness.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// A session with a clock that the test advances: an interval of 10 s and a timeout of 30 s.
struct Patient : SessionHarness {
    explicit Patient(SocketOptions options_in = {}, unsigned minor = 1)
        : SessionHarness(zmtp::SocketType::router, std::move(options_in)) {
        make_open("DEALER", false, minor);
        now = Clock::now();
    }
    /// Calls tick() four times a second, for `time`. Stops when the session has ended.
    void pass(std::chrono::milliseconds time) {
        for (const auto end = now + time; now < end && ended == 0;) {
            now += 250ms;
            session->tick(now);
            turn();
        }
    }
    /// Returns the number of PINGs written since the last call.
    [[nodiscard]] std::size_t pings() {
        const std::string sent = std::exchange(wire->written, {});
        std::size_t count = 0;
        for (std::size_t at = sent.find("\4PING"); at != std::string::npos; at = sent.find("\4PING", at + 1)) {
            ++count;
        }
        return count;
    }

    Clock::time_point now;
};

SocketOptions without_heartbeat() {
    SocketOptions options;
    options.heartbeat_interval = 0ms;
    return options;
}

}  // namespace

TEST_CASE("a quiet peer is sent PING with our timeout as its TTL and no context", "[core][session][heartbeat]") {
    Patient h;
    h.pass(9'500ms);
    CHECK(h.wire->written.empty());
    h.pass(1s);
    CHECK(h.wire->written == ping("", 300));
}

TEST_CASE("the TTL that we send is never one that libzmq miscounts", "[core][session][heartbeat]") {
    SocketOptions options;
    options.heartbeat_timeout = std::chrono::hours(1);
    Patient h(options);
    h.pass(11s);
    CHECK(h.wire->written == ping("", 650));
}

TEST_CASE("a peer that replies is never closed, and its round trip is known", "[core][session][heartbeat]") {
    Patient h;
    CHECK_FALSE(h.session->status().round_trip.has_value());
    for (int round = 0; round < 20; ++round) {
        h.pass(10'500ms);
        REQUIRE(h.pings() == 1);
        h.receive(round % 2 == 0 ? pong("") : pong("other context"));
    }
    CHECK(h.ended == 0);
    REQUIRE(h.session->status().round_trip.has_value());
    CHECK(h.session->status().round_trip->count() >= 0);
}

TEST_CASE("a peer that sends anything is sent no PING", "[core][session][heartbeat]") {
    Patient h;
    for (int second = 0; second < 100; ++second) {
        h.pass(1s);
        h.receive(frame(0, "still here"));
    }
    CHECK(h.pings() == 0);
    CHECK(h.ended == 0);
}

TEST_CASE("a silent peer is sent PING every interval and closed after the timeout", "[core][session][heartbeat]") {
    Patient h;
    h.pass(29s);
    CHECK(h.pings() == 2);
    CHECK(h.ended == 0);
    h.pass(2s);
    CHECK(h.why == "heartbeat timeout");
    CHECK(h.session->ending() == PeerEnding::silence);
}

TEST_CASE("a hung process is detected although its machine acknowledges our PINGs", "[core][session][heartbeat]") {
    Patient h;
    h.wire->acknowledged_ms_ago = 5;
    h.pass(31s);
    CHECK(h.why == "heartbeat timeout");
}

TEST_CASE("a peer that reads slowly but sends nothing is alive", "[core][session][heartbeat]") {
    Patient h;
    h.wire->room = 0;
    for (int count = 0; count < 1'000; ++count) {
        h.append(std::string(200, 'x'));
    }
    h.session->flush();
    for (int round = 0; round < 20; ++round) {
        h.wire->room = 100;
        h.pass(10s);
    }
    CHECK(h.ended == 0);
    h.pass(60s);
    CHECK(h.why == "heartbeat timeout");
}

TEST_CASE("bytes that our machine took count only once the peer's machine has acknowledged them",
          "[core][session][heartbeat]") {
    Patient h;
    for (int second = 0; second < 40 && h.ended == 0; ++second) {
        h.send(std::string(100, 'x'));
        h.wire->unacknowledged += 102;
        h.pass(1s);
    }
    CHECK(h.why == "heartbeat timeout");
}

TEST_CASE("a peer with a full receive buffer is alive until it stops acknowledging", "[core][session][heartbeat]") {
    Patient h;
    h.wire->room = 0;
    h.append("waits");
    h.session->flush();
    h.wire->acknowledged_ms_ago = 4'000;
    h.pass(300s);
    CHECK(h.ended == 0);
    h.wire->acknowledged_ms_ago = 31'000;
    h.pass(31s);
    CHECK(h.why == "heartbeat timeout");
}

TEST_CASE("a peer whose bytes our application does not take is alive", "[core][session][heartbeat]") {
    Patient h;
    h.takes = false;
    h.receive(frame(0, "untaken") + ping("", 10));
    h.pass(300s);
    CHECK(h.ended == 0);
    CHECK(h.pings() == 0);
}

TEST_CASE("an interval of zero sends no PING and closes no peer", "[core][session][heartbeat]") {
    Patient h(without_heartbeat());
    h.pass(600s);
    CHECK(h.ended == 0);
    CHECK(h.wire->written.empty());
}

TEST_CASE("a peer in the same process is sent no PING", "[core][session][heartbeat]") {
    SessionHarness h;
    const auto wire = std::make_shared<Wire>();
    wire->stays_in_process = true;
    h.make_on(wire).start();
    h.receive(greeting() + ready("DEALER"));
    wire->written.clear();
    h.session->tick(Clock::now() + 100s);
    CHECK(wire->written.empty());
    CHECK(h.ended == 0);
}

TEST_CASE("a timeout no longer than the interval leaves time for a reply", "[core][session][heartbeat]") {
    SocketOptions options;
    options.heartbeat_interval = 10s;
    options.heartbeat_timeout = GENERATE(10s, 2s);
    Patient h(options);
    h.pass(10'250ms);
    CHECK(h.pings() == 1);
    h.pass(options.heartbeat_timeout - 500ms);
    CHECK(h.ended == 0);
    h.pass(1s);
    CHECK(h.why == "heartbeat timeout");
}

TEST_CASE("a ZMTP 3.0 peer is sent no PING and stays open while nothing is pending for it",
          "[core][session][heartbeat]") {
    Patient h({}, 0);
    h.pass(600s);
    CHECK(h.wire->written.empty());
    CHECK(h.ended == 0);
    h.send("still there");
    h.pass(600s);
    CHECK(h.ended == 0);
}

TEST_CASE("a ZMTP 3.0 peer that takes no pending data is closed after the timeout", "[core][session][heartbeat]") {
    SocketOptions options;
    options.heartbeat_timeout = GENERATE(30s, 2s);
    const auto patience = std::max<std::chrono::milliseconds>(options.heartbeat_timeout, 10s);
    Patient h(options, 0);
    h.pass(60s);
    SECTION("its receive buffer is full") {
        h.wire->room = 0;
        h.append("waits");
        h.session->flush();
    }
    SECTION("its machine acknowledges nothing") {
        h.send("lost");
        h.wire->unacknowledged = 6;
    }
    h.pass(options.heartbeat_timeout - 500ms);
    CHECK(h.ended == 0);
    h.pass(patience);
    CHECK(h.why == "heartbeat timeout");
    CHECK(h.wire->written.find("PING") == std::string::npos);
}

TEST_CASE("a ZMTP 3.0 peer that reads slowly or acknowledges with a full receive buffer is alive",
          "[core][session][heartbeat]") {
    Patient h({}, 0);
    h.wire->room = 0;
    for (int count = 0; count < 1'000; ++count) {
        h.append(std::string(200, 'x'));
    }
    h.session->flush();
    SECTION("reads slowly") {
        for (int round = 0; round < 20; ++round) {
            h.wire->room = 100;
            h.pass(10s);
        }
    }
    SECTION("has a full receive buffer") {
        h.wire->acknowledged_ms_ago = 4'000;
        h.pass(300s);
    }
    CHECK(h.ended == 0);
}

TEST_CASE("the peer's TTL is observed, even without a heartbeat of ours", "[core][session][heartbeat]") {
    Patient h(without_heartbeat());
    h.receive(ping("", 50));
    h.pass(4'500ms);
    CHECK(h.ended == 0);
    h.pass(1'500ms);
    CHECK(h.why == "heartbeat timeout");
}

TEST_CASE("a TTL ends with the next bytes, and zero means no TTL", "[core][session][heartbeat]") {
    Patient h(without_heartbeat());
    SECTION("the next bytes") {
        h.receive(ping("", 50));
        h.receive(frame(0, "more"));
    }
    SECTION("zero") {
        h.receive(ping("", 0));
    }
    h.pass(600s);
    CHECK(h.ended == 0);
}

TEST_CASE("PING is answered with its exact context", "[core][session][heartbeat]") {
    SessionHarness h;
    h.make_open();
    const std::string context = GENERATE(as<std::string>(), "", "x", "0123456789abcdef", std::string("\0\xFF\0", 3));
    h.receive(ping(context, 10));
    CHECK(h.wire->written == pong(context));
}

TEST_CASE("a malformed PING is a violation", "[core][session][heartbeat]") {
    SessionHarness h;
    h.make_open();
    h.receive(
        GENERATE(command("PING", ""), command("PING", "\1"), ping("0123456789abcdefg"), ping(std::string(1'000, 'x'))));
    CHECK(h.why == "malformed PING");
    CHECK(h.session->ending() == PeerEnding::violation);
}

TEST_CASE("a flood of PINGs from a peer that reads is answered completely", "[core][session][heartbeat]") {
    SessionHarness h;
    h.make_open();
    std::string flood;
    std::string answers;
    for (int count = 0; count < 10'000; ++count) {
        flood += ping(std::to_string(count));
        answers += pong(std::to_string(count));
    }
    h.receive(flood);
    CHECK(h.wire->written == answers);
}

TEST_CASE("a peer that does not read its PONGs is closed", "[core][session][heartbeat]") {
    SessionHarness h;
    h.make_open();
    h.wire->room = 10'000;
    std::string flood;
    for (int count = 0; count < 10'000; ++count) {
        flood += ping("0123456789abcdef");
    }
    h.receive(flood);
    CHECK(h.why == "peer does not read its PONGs");
    CHECK(h.wire->written.size() == 10'000);
}

TEST_CASE("PING between the frames of a message is answered and the message continues", "[core][session][heartbeat]") {
    SessionHarness h;
    h.make_open();
    h.receive(frame(1, "a") + ping("x"));
    CHECK(h.wire->written == pong("x"));
    h.receive(frame(0, "b"));
    CHECK(h.messages == "(a|b)");
}
