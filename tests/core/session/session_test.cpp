#include "core/limits.hpp"
#include "core/session/session_harness.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using State = Session::State;

TEST_CASE("a session sends its greeting at once, and READY after the peer's greeting", "[core][session]") {
    SessionHarness h(zmtp::SocketType::pub);
    h.make().start();
    CHECK(h.wire->written == greeting());
    h.receive(greeting());
    CHECK(h.wire->written == publisher_hello());
    CHECK_FALSE(h.session->was_open());
    h.receive(ready("SUB"));
    CHECK(h.opened == 1);
    CHECK(h.session->was_open());
    CHECK(h.session->state() == State::open);
    CHECK(h.session->peer().socket_type == zmtp::SocketType::sub);
}

TEST_CASE("data that follows the handshake in the same piece is processed at once", "[core][session]") {
    SessionHarness h(zmtp::SocketType::pub);
    h.make().start();
    h.receive(greeting() + ready("SUB") + subscribe("a") + subscribe_3_0("b") + cancel("a"));
    CHECK(h.commands == std::vector<std::string>{"SUBSCRIBE a", "CANCEL a"});
    CHECK(h.messages == "(\1b)");
}

TEST_CASE("a handshake that breaks the protocol ends the session", "[core][session]") {
    SessionHarness h;
    h.make().start();
    h.receive("GET / HTTP/1.1\r\n\r\n");
    CHECK(h.ended == 1);
    CHECK_FALSE(h.session->was_open());
    CHECK(h.session->ending() == PeerEnding::other);
    CHECK(h.wire->written == greeting());
}

TEST_CASE("the handshake has one deadline, however slowly the bytes arrive", "[core][session]") {
    SessionHarness h;
    h.make().start();
    const auto start = Clock::now();
    const std::string hello = greeting();
    for (int second = 0; second < 9; ++second) {
        h.receive(hello.substr(static_cast<std::size_t>(second), 1));
        h.session->tick(start + std::chrono::seconds(second));
        REQUIRE(h.ended == 0);
    }
    h.session->tick(start + h.options.handshake_time_max + 1s);
    CHECK(h.why == "handshake timeout");
}

TEST_CASE("messages are received and sent", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(frame(1, "a") + frame(0, "b") + frame(0, "c"));
    CHECK(h.messages == "(a|b)(c)");
    h.send("reply");
    CHECK(h.wire->written == frame(0, "reply"));
    const PeerStatus status = h.session->status();
    CHECK(status.received == 2);
    CHECK(status.sent == 1);
    CHECK(status.pending == 0);
    CHECK(status.socket_type == "DEALER");
    CHECK(status.mechanism == Mechanism::null);
    CHECK(status.zmtp_minor == 1);
    CHECK(status.endpoint == "tcp://127.0.0.1:5556");
    CHECK(status.bytes_received > 64);
    CHECK(status.bytes_sent > 64);
}

TEST_CASE("nothing is sent before the handshake is done, then the pending messages are", "[core][session]") {
    SessionHarness h(zmtp::SocketType::dealer);
    h.append("early");
    h.make(true).start();
    h.session->flush();
    h.receive(greeting());
    CHECK(h.wire->written.find("early") == std::string::npos);
    h.receive(ready("ROUTER"));
    CHECK(h.wire->written.ends_with(frame(0, "early")));
}

TEST_CASE("a session whose owner does not take reads no more", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.takes = false;
    const int readable_before = h.readable;
    h.receive(frame(0, "one"));
    h.receive(frame(0, "two"));
    CHECK(h.readable == readable_before + 1);
    CHECK(h.wire->incoming == frame(0, "one") + frame(0, "two"));
    h.receive();
    CHECK(h.messages == "(one)(two)");
    h.receive(frame(0, "three"));
    CHECK(h.readable == readable_before + 2);
}

TEST_CASE("a stream with more data is read on without waiting, within the iteration's budget", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.takes = false;
    h.wire->reports_more = true;
    h.wire->read_pieces = {limits::read_bytes_per_turn / 4 + 100, 10};
    const std::string body(200, 'x');
    std::string wire;
    while (wire.size() < 3 * limits::read_bytes_per_turn) {
        wire += frame(0, body);
    }
    h.receive(wire);
    const auto takes_until_idle = [&h] {
        std::size_t count = 1;
        while (h.receive() == Session::ReceiveStatus::more && !h.batch.empty()) {
            ++count;
        }
        return count;
    };
    const std::size_t in_one_turn = takes_until_idle();
    CHECK(in_one_turn > 10);
    CHECK(h.wire->incoming.size() > limits::read_bytes_per_turn);
    CHECK_FALSE(h.wire->waits_readable);

    const int readable_before = h.readable;
    h.turn();
    CHECK(h.readable == readable_before + 1);
    while (!h.wire->incoming.empty()) {
        takes_until_idle();
        h.turn();
    }
    takes_until_idle();
    h.turn();
    CHECK(h.wire->waits_readable);
    CHECK(h.messages.size() == wire.size());
    h.receive(frame(0, "last"));
    h.receive();
    CHECK(h.messages.ends_with("(last)"));
}

TEST_CASE("a session with untaken data still answers PING", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.takes = false;
    h.wire->reports_more = true;
    h.wire->read_pieces = {10};
    h.receive(frame(0, "one") + frame(0, "two") + ping("1"));
    CHECK(h.receive() == Session::ReceiveStatus::more);
    h.turn();
    h.session->tick(Clock::now());
    h.session->tick(Clock::now());
    h.receive();
    h.turn();
    h.receive();
    h.turn();
    CHECK(h.wire->written == pong("1"));
    CHECK(h.messages == "(one)(two)");
}

TEST_CASE("a batch stays valid until the next take", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.takes = false;
    h.receive(frame(0, "first"));
    h.receive();
    const Message message = h.batch[0];
    h.wire->incoming += frame(0, "other");
    CHECK(message.text(0) == "first");
    h.receive();
    CHECK(h.messages == "(first)(other)");
}

TEST_CASE("a large message arrives whatever the buffer size", "[core][session]") {
    SessionHarness h;
    h.make_open();
    const std::string large(3'000'000, 'x');
    h.wire->read_pieces = GENERATE(std::vector<std::size_t>{}, std::vector<std::size_t>{100, 30'000});
    h.receive(frame(1, "a") + frame(0, large) + frame(0, "b"));
    CHECK(h.messages == "(a|" + large + ")(b)");
}

TEST_CASE("messages that arrived before the end of the stream are delivered first", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.wire->incoming_ends = true;
    h.receive(frame(0, "last") + frame(1, "half of one"));
    CHECK(h.messages == "(last)");
    CHECK(h.ended == 1);
    CHECK(h.why == "peer disconnected");
    CHECK(h.session->ending() == PeerEnding::normal);
}

TEST_CASE("messages that arrived before a violation are delivered first", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(frame(0, "good") + "\x80");
    CHECK(h.messages == "(good)");
    CHECK(h.why == "reserved frame flag set");
    CHECK(h.session->ending() == PeerEnding::violation);
    CHECK(h.ended == 1);
}

TEST_CASE("messages that arrived are delivered although nothing more can be written", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.wire->writes_fail = true;
    h.wire->read_pieces = {10, 20};
    h.wire->incoming = frame(0, "one") + ping("") + frame(0, "two") + frame(0, std::string(1'000, 'x'));
    h.append("reply");
    SECTION("found while reading") {
        h.turn();
    }
    SECTION("found while writing") {
        h.send("another");
    }
    CHECK(h.messages == "(one)(two)(" + std::string(1'000, 'x') + ")");
    CHECK(h.ended == 1);
    CHECK(h.why == "peer disconnected");
    CHECK(h.session->ending() == PeerEnding::normal);
    CHECK(h.outbox->sent() == 0);
    CHECK(h.outbox->dropped() == h.outbox->matched());
}

TEST_CASE("a handshake whose reply cannot be sent ends", "[core][session]") {
    SessionHarness h;
    h.make();
    h.wire->writes_fail = true;
    h.session->start();
    h.turn();
    CHECK(h.ended == 1);
}

TEST_CASE("handshake commands after the handshake are a violation; unknown commands are not", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(command("JOIN", "group") + command("SOMETHING", ""));
    CHECK(h.ended == 0);
    CHECK(h.commands.empty());
    h.receive(GENERATE(ready("DEALER"), command("ERROR", std::string("\0", 1))));
    CHECK(h.why == "handshake command after the handshake");
    CHECK(h.session->ending() == PeerEnding::violation);
}

TEST_CASE("a command without a name is a violation", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(GENERATE(frame(4, std::string("\0", 1)), frame(4, "\5PING")));
    CHECK(h.why == "malformed command");
}

TEST_CASE("an empty command is a violation as soon as traffic follows", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(frame(4, "") + frame(0, "anything"));
    CHECK(h.session->ending() == PeerEnding::violation);
}

TEST_CASE("a flood of small commands yields to other sessions between iterations", "[core][session]") {
    SessionHarness h(zmtp::SocketType::pub);
    h.make_open("SUB");
    constexpr int commands = 100'000;
    std::string flood;
    for (int count = 0; count < commands; ++count) {
        flood += subscribe("t");
    }
    const int readable_before = h.readable;
    h.receive(flood);
    CHECK(h.commands.size() == commands);
    CHECK(h.readable - readable_before >= commands / static_cast<int>(limits::frames_per_turn));
}

TEST_CASE("a flood of bytes without a message yields to other sessions between iterations", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.wire->read_pieces = {100'000};
    const int readable_before = h.readable;
    h.receive(frame(0, std::string(10 * limits::read_bytes_per_turn, 'x')));
    CHECK(h.readable - readable_before >= 10);
    CHECK(h.messages.size() > limits::read_bytes_per_turn);
}

TEST_CASE("a session without unread data gives its receive buffer back", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(frame(0, "one"));
    const std::byte* const message = h.batch[0][0].data();
    SECTION("after the next check of the deadlines") {
        h.session->tick(Clock::now());
    }
    SECTION("after a take that found nothing") {
        h.receive();
    }
    const BufferPool::Buffer buffer = h.buffers.acquire();
    CHECK(message >= buffer.get());
    CHECK(message < buffer.get() + h.buffers.buffer_bytes());
}

TEST_CASE("sessions of one socket that are taken from in turn share a receive buffer", "[core][session]") {
    SessionHarness h;
    h.make_open();
    h.receive(frame(0, "one"));
    const std::byte* const first = h.batch[0][0].data();
    const std::unique_ptr<Session> one = std::move(h.session);
    h.make_open();
    h.receive(frame(0, "two"));
    CHECK(h.batch[0][0].data() == first);
    CHECK(h.messages == "(one)(two)");
}

TEST_CASE("free capacity is reported once the backlog has fallen to half its limit", "[core][session]") {
    SocketOptions options;
    options.backlog_bytes_max = 1'000;
    SessionHarness h(zmtp::SocketType::router, options);
    h.make_open();
    h.wire->room = 0;
    for (int count = 0; count < 9; ++count) {
        h.append(std::string(98, 'x'));
    }
    h.session->flush();
    CHECK_FALSE(h.outbox->has_room(200, options.backlog_bytes_max));
    h.turn();
    CHECK(h.rooms == 0);
    h.wire->room = 399;
    h.turn();
    CHECK(h.rooms == 0);
    h.wire->room = 1;
    h.turn();
    CHECK(h.rooms == 1);
    h.wire->room = Wire::no_limit;
    h.turn();
    CHECK(h.rooms == 1);
}

TEST_CASE("free capacity is reported to a refused sender, even if the backlog never passed half", "[core][session]") {
    SocketOptions options;
    options.backlog_bytes_max = 1'000;
    SessionHarness h(zmtp::SocketType::router, options);
    h.make_open();
    h.append(std::string(298, 'x'));
    CHECK_FALSE(h.outbox->has_room(800, options.backlog_bytes_max));
    h.session->flush();
    h.turn();
    CHECK(h.rooms == 1);
    CHECK(h.outbox->has_room(800, options.backlog_bytes_max));
}

TEST_CASE("an alias is the identity, whatever the peer sends", "[core][session]") {
    const std::string dealer =
        command("READY", "\x0BSocket-Type" + big_endian(6, 4) + "DEALER" + "\x08Identity" + big_endian(4, 4) + "told");
    SessionHarness h;
    h.make().start();
    h.receive(greeting() + dealer);
    CHECK(h.session->identity() == "told");
    h.wire = std::make_shared<Wire>();
    Session::Arrival arrival;
    arrival.stream = std::make_unique<FaultyStream>(h.wire);
    arrival.alias = "alias";
    arrival.outbox = h.outbox;
    h.session = std::make_unique<Session>(h.context, std::move(arrival));
    h.session->start();
    h.receive(greeting() + dealer);
    CHECK(h.session->identity() == "alias");
}

TEST_CASE("a peer that takes everything gets its share in one iteration, and the rest in later ones",
          "[core][session]") {
    SessionHarness h;
    h.make_open();
    constexpr std::size_t share_max = limits::write_bytes_per_turn + 64 * 1024;  // whole segments
    const std::string body(1'000, 'x');
    const std::size_t wire_bytes = 3 * share_max / frame(0, body).size() * frame(0, body).size();
    while (h.outbox->backlog().bytes() < wire_bytes) {
        h.append(body);
    }
    h.session->flush();
    std::size_t turns = 1;
    for (std::size_t before = 0; h.wire->written.size() < wire_bytes; ++turns) {
        REQUIRE(h.wire->written.size() - before <= share_max);
        before = h.wire->written.size();
        h.session->flush();  // its share of this iteration is used up
        REQUIRE(h.wire->written.size() == before);
        REQUIRE(h.wire->turn());
    }
    CHECK(turns >= 3);
}
