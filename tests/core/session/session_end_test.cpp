#include "core/limits.hpp"
#include "core/session/session_harness.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <memory>
#include <string>

using namespace telegate;
using namespace telegate::test;
using State = Session::State;

TEST_CASE("a draining session sends its pending messages, ends the stream and waits for the peer", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.wire->room = 3;
    h.append("pending");
    h.session->drain();
    CHECK(h.session->state() == State::draining);
    CHECK_FALSE(h.wire->writing_ended);
    h.receive(frame(0, "nobody wants this"));
    h.wire->room = Wire::no_limit;
    h.turn();
    CHECK(h.wire->written == frame(0, "pending"));
    CHECK(h.wire->writing_ended);
    h.receive(std::string(100'000, '\xFF'));
    CHECK(h.ended == 0);
    h.wire->incoming_ends = true;
    h.turn();
    CHECK(h.ended == 1);
    CHECK(h.why == "shutdown");
    CHECK(h.session->ending() == PeerEnding::normal);
    CHECK(h.messages.empty());
    CHECK(h.outbox->sent() == 1);
}

TEST_CASE("a draining session ends although its owner has not taken what arrived", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.takes = false;
    h.receive(frame(0, "untaken"));
    h.session->drain();
    h.wire->incoming_ends = true;
    h.turn();
    CHECK(h.why == "shutdown");
    CHECK(h.session->ending() == PeerEnding::normal);
}

TEST_CASE("a draining session does not wait long for a peer that has received everything", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.append("pending");
    h.session->drain();
    h.turn();
    REQUIRE(h.wire->writing_ended);
    const auto now = std::chrono::steady_clock::now();
    h.wire->unacknowledged = 1;
    h.session->tick(now);
    h.session->tick(now + std::chrono::hours(1));
    CHECK(h.ended == 0);
    h.wire->unacknowledged = 0;
    h.session->tick(now + std::chrono::hours(1));
    CHECK(h.ended == 0);
    h.session->tick(now + std::chrono::hours(1) + limits::drained_time_max);
    CHECK(h.ended == 1);
    CHECK(h.why == "shutdown");
    CHECK(h.session->ending() == PeerEnding::normal);
    CHECK(h.outbox->dropped() == 0);
}

TEST_CASE("draining before the handshake is done closes the session", "[core][session]") {
    SessionHarness h;
    h.make().start();
    h.session->drain();
    CHECK(h.why == "shutdown");
    CHECK(h.session->ending() == PeerEnding::normal);
    CHECK(h.ended == 1);
}

TEST_CASE("closing drops pending messages and counts them", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.wire->room = 8;
    h.append("sent");
    h.append("partly sent");
    h.append("pending");
    h.session->flush();
    h.session->close("enough");
    h.session->close("again");
    CHECK(h.ended == 1);
    CHECK(h.why == "enough");
    CHECK(h.outbox->sent() == 1);
    CHECK(h.outbox->dropped() == 2);
    CHECK(h.adds_up());
}

TEST_CASE("a kept outbox continues with the next connection, from a message's start", "[core][session]") {
    SessionHarness h(zmtp::SocketType::dealer);
    h.make_open("ROUTER", true);
    h.wire->room = 8;
    h.append("sent");
    h.append("partly sent");
    h.session->flush();
    h.session->close("lost");
    CHECK(h.outbox->dropped() == 0);
    h.make(true).start();
    h.receive(greeting() + ready("ROUTER"));
    CHECK(h.wire->written.ends_with(frame(0, "partly sent")));
    CHECK(h.outbox->sent() == 2);
    CHECK(h.adds_up());
}

TEST_CASE("a posted call does nothing once the session is gone", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.takes = false;
    h.receive(frame(0, std::string(2 * limits::read_bytes_per_turn, 'x')));
    CHECK(h.receive() == Session::ReceiveStatus::more);
    h.session->close("enough");
    h.session.reset();
    h.turn();
    CHECK(h.ended == 1);
}

TEST_CASE("a session can be closed from inside its own callbacks", "[core][session]") {
    SessionHarness h(zmtp::SocketType::pub);
    SECTION("opened") {
        h.context.events.opened = [](Session& session) {
            session.close("enough");
        };
    }
    SECTION("readable") {
        h.context.events.readable = [](Session& session) {
            session.close("enough");
        };
    }
    SECTION("command") {
        h.context.events.command = [](Session& session, const zmtp::Command&) {
            session.close("enough");
        };
    }
    h.make().start();
    h.receive(greeting() + ready("SUB") + subscribe("a") + subscribe("b") + ping("x"));
    CHECK(h.ended == 1);
    CHECK(h.why == "enough");
}

TEST_CASE("a session was of no use if it was lost in the middle of the only message", "[core][session]") {
    SessionHarness h;
    h.make_open("DEALER", true);
    const auto is_cut_in_large_message = [&] {
        h.wire->room = 100;
        h.send(std::string(1000, 'x'));
        h.session->close("lost");
        CHECK(h.adds_up());
        return h.session->was_of_use();
    };
    SECTION("nothing else") {
        CHECK_FALSE(is_cut_in_large_message());
    }
    SECTION("a message was sent before") {
        h.send("small");
        CHECK(is_cut_in_large_message());
    }
    SECTION("a message came") {
        h.receive(frame(0, "heard"));
        CHECK(is_cut_in_large_message());
    }
    SECTION("there was nothing to do") {
        h.session->close("lost");
        CHECK(h.session->was_of_use());
    }
}
