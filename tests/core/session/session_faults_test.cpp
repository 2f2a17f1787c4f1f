#include "core/session/session_harness.hpp"

#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <random>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

/// How a stream misbehaves.
struct Trouble {
    std::vector<std::size_t> read_pieces;
    std::size_t write_bytes_max = Wire::no_limit;
    std::size_t blocks_every = 0;
    int error = ECONNRESET;
    std::size_t fail_at = 0;
    bool keep_outbox = false;
};

/// Runs a whole session: handshake, subscription, messages in and out, PING, multipart, drain. Returns the number of
/// operations on the stream.
std::size_t live(const Trouble& trouble) {
    SessionHarness h;
    h.make(trouble.keep_outbox);
    h.wire->read_pieces = trouble.read_pieces;
    h.wire->write_bytes_max = trouble.write_bytes_max;
    h.wire->blocks_every = trouble.blocks_every;
    h.wire->error = trouble.error;
    h.wire->fail_at = trouble.fail_at;

    const auto check = [&] {
        REQUIRE(h.adds_up());
        REQUIRE(h.ended <= 1);
        REQUIRE((h.ended == 1) == (h.session->state() == Session::State::closed));
    };
    h.session->start();
    check();
    h.receive(greeting() + ready("DEALER") + subscribe("topic"));
    check();
    for (int number = 0; number < 3 && h.ended == 0; ++number) {
        h.send("message " + std::to_string(number));
        check();
    }
    h.receive(frame(0, "one") + frame(1, "two") + ping("context") + frame(1, "") + frame(0, "three"));
    check();
    if (h.ended == 0) {
        h.append(std::string(2'000, 'x'));
        h.append(std::string(10, 'y'));
    }
    h.session->drain();
    h.turn();
    check();
    h.wire->incoming_ends = true;
    h.turn();
    check();
    h.turn();  // so that the last write blocks
    h.session->close("cut");
    check();

    if (!h.wire->has_failed()) {
        CHECK(h.opened == 1);
        CHECK(h.messages == "(one)(two||three)");
        CHECK(h.commands == std::vector<std::string>{"SUBSCRIBE topic"});
    }
    if (h.why == "shutdown") {
        CHECK(h.outbox->sent() == 5);
        CHECK(h.wire->writing_ended);
    }
    CHECK(h.ended == 1);
    CHECK((h.outbox->backlog().empty() || trouble.keep_outbox));
    const std::uint64_t in_all = h.outbox->matched();
    const std::size_t operations = h.wire->operations;
    h.session.reset();
    CHECK(h.outbox->matched() == in_all);
    return operations;
}

}  // namespace

TEST_CASE("a whole session with a failure at any operation ends once, and the counts add up",
          "[core][session][faults]") {
    Trouble trouble;
    trouble.read_pieces =
        GENERATE(std::vector<std::size_t>{}, std::vector<std::size_t>{1}, std::vector<std::size_t>{7, 64});
    trouble.write_bytes_max = GENERATE(std::size_t{Wire::no_limit}, std::size_t{1}, std::size_t{50});
    trouble.blocks_every = GENERATE(std::size_t{0}, std::size_t{2}, std::size_t{3});
    trouble.error = GENERATE(ECONNRESET, 0);
    trouble.keep_outbox = trouble.error == 0;
    const std::size_t operations = live(trouble);
    // If every byte is an operation, a sample of the failures is as good as all of them.
    const std::size_t step = operations / rounds(operations > 500 ? operations / 13 : operations);
    for (trouble.fail_at = 1; trouble.fail_at <= operations + 1; trouble.fail_at += step) {
        CAPTURE(trouble.fail_at);
        live(trouble);
    }
}

namespace {

/// Two sessions that talk to each other over two scripted streams.
struct SessionPair {
    explicit SessionPair(SocketOptions server_options = {}, SocketOptions client_options = {})
        : server(zmtp::SocketType::router, std::move(server_options)),
          client(zmtp::SocketType::dealer, std::move(client_options)) {
        server.make().start();
        client.make().start();
    }
    /// Carries written bytes from one to the other and runs both until nothing happens.
    void turn() {
        bool any = true;
        while (any) {
            any = carry(server, client);
            any = carry(client, server) || any;
        }
    }
    static bool carry(SessionHarness& from, SessionHarness& to) {
        from.turn();
        const std::string bytes = std::exchange(from.wire->written, {});
        to.receive(bytes);
        return !bytes.empty();
    }

    SessionHarness server;
    SessionHarness client;
};

std::string expected(int messages) {
    std::string text;
    for (int number = 0; number < messages; ++number) {
        text += "(" + std::to_string(number) + std::string(static_cast<std::size_t>(number % 7 * number), '.') + ")";
    }
    return text;
}

void exchange(SessionPair& pair, unsigned seed) {
    constexpr int messages = 300;
    std::mt19937 random(seed);
    for (SessionHarness* end : {&pair.server, &pair.client}) {
        end->wire->read_pieces = {1 + random() % 100, 1 + random() % 5'000};
        end->wire->write_bytes_max = 1 + random() % 3'000;
    }
    for (int number = 0; number < messages; ++number) {
        const std::string payload =
            std::to_string(number) + std::string(static_cast<std::size_t>(number % 7 * number), '.');
        pair.server.append(payload);
        pair.client.append(payload);
        if (random() % 5 == 0) {
            pair.server.session->flush();
            pair.client.session->flush();
            pair.turn();
        }
        if (random() % 50 == 0) {
            pair.server.session->tick(Clock::now() + std::chrono::seconds(15));  // usually a PING
        }
    }
    pair.server.session->drain();
    pair.client.session->flush();
    pair.turn();
    CHECK(pair.server.wire->writing_ended);
    CHECK(pair.client.messages == expected(messages));
    CHECK(pair.server.outbox->sent() == messages);
    CHECK(pair.server.adds_up());
    CHECK(pair.client.adds_up());
    CHECK(pair.server.ended + pair.client.ended == 0);
}

}  // namespace

TEST_CASE("two sessions exchange messages however the stream splits them", "[core][session][faults]") {
    const unsigned seed = GENERATE(range(1U, 10U));
    CAPTURE(seed);
    SessionPair pair;
    pair.turn();
    REQUIRE(pair.server.opened + pair.client.opened == 2);
    exchange(pair, seed);
}

TEST_CASE("two sessions exchange sealed messages however the stream splits them", "[core][session][faults]") {
    const unsigned seed = GENERATE(range(1U, 10U));
    CAPTURE(seed);
    const CurveKeyPair server_keys = make_curve_key_pair();
    const CurveKeyPair client_keys = make_curve_key_pair();
    SocketOptions server_options;
    server_options.security = CurveServer{server_keys, nullptr};
    SocketOptions client_options;
    client_options.security = CurveClient{client_keys, server_keys.public_key};
    SessionPair pair(server_options, client_options);
    pair.turn();
    REQUIRE(pair.server.opened + pair.client.opened == 2);
    const PeerStatus status = pair.server.session->status();
    CHECK(status.mechanism == Mechanism::curve);
    CHECK(status.curve_key == client_keys.public_key);
    exchange(pair, seed);
}

TEST_CASE("over a stream that stays in the process nothing is sealed", "[core][session][faults]") {
    SocketOptions options;
    options.security = CurveServer{make_curve_key_pair(), nullptr};
    SessionHarness h(zmtp::SocketType::router, options);
    const auto wire = std::make_shared<Wire>();
    wire->stays_in_process = true;
    h.make_on(wire).start();
    CHECK(h.wire->written == greeting());
}
