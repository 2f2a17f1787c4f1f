#include "zmtp/curve_handshake.hpp"
#include "core/zmtp/curve_pair.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"
#include "zmtp/handshake.hpp"

#include <algorithm>

using namespace telegate;
using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

TEST_CASE("a CURVE client and server complete the handshake", "[core][zmtp][curve]") {
    CurvePair pair(curve_client(SocketType::dealer, "me"), curve_server(SocketType::router, "you"));
    pair.talk();
    REQUIRE(pair.done());
    const PeerInfo& client = pair.server.handshake->peer();
    CHECK(client.socket_type == SocketType::dealer);
    CHECK(client.identity == "me");
    CHECK(client.minor == 1);
    CHECK(client.curve_key == client_keys().public_key);
    const PeerInfo& server = pair.client.handshake->peer();
    CHECK(server.socket_type == SocketType::router);
    CHECK(server.identity == "you");
    CHECK(server.curve_key == server_keys().public_key);
}

TEST_CASE("after the CURVE handshake each side has one cipher, and they fit", "[core][zmtp][curve]") {
    CurvePair pair;
    pair.talk();
    const auto client = pair.client.handshake->take_cipher();
    const auto server = pair.server.handshake->take_cipher();
    REQUIRE(client);
    REQUIRE(server);
    CHECK_FALSE(pair.client.handshake->take_cipher());
    for (const auto& [from, to] : {std::pair(client.get(), server.get()), std::pair(server.get(), client.get())}) {
        Buffer frame(CurveCipher::sealed_bytes(5));
        REQUIRE(from->seal(frame.data(), 0, as_bytes("hello")) == frame.size());
        const OpenedFrame opened = to->open(std::span(frame).subspan(2));
        REQUIRE(opened.ok);
        CHECK(text(opened.payload) == "hello");
    }
}

TEST_CASE("a NULL handshake has no cipher and no key", "[core][zmtp][curve]") {
    CurvePair pair({SocketType::sub, {}}, {SocketType::pub, {}});
    pair.talk();
    REQUIRE(pair.done());
    CHECK_FALSE(pair.server.handshake->take_cipher());
    CHECK_FALSE(pair.server.handshake->peer().curve_key);
}

TEST_CASE("CURVE's commands have the standard's names and sizes", "[core][zmtp][curve]") {
    const Transcript spoken = transcript();
    const std::size_t metadata = 4 + 11 + 1 + 6 + 1 + 8 + 4;  // Socket-Type, of six letters, and an empty Identity
    CHECK(hex(Bytes(spoken.client.first).first(10)) == hex(wire(0x04, 200, 5, "HELLO", 1, 0)));
    CHECK(hex(Bytes(spoken.client.first).subspan(10, 72)) == hex(Buffer(72)));
    CHECK(spoken.client.first.size() == 2 + 200);
    CHECK(hex(Bytes(spoken.server.first).first(10)) == hex(wire(0x04, 168, 7, "WELCOME")));
    CHECK(spoken.server.first.size() == 2 + 168);
    CHECK(hex(Bytes(spoken.client.second).first(9)) ==
          hex(wire(0x06, 0, 0, 0, 0, 0, 0, 1, static_cast<int>(257 + metadata - 256))));
    CHECK(hex(Bytes(spoken.client.second).subspan(9, 9)) == hex(wire(8, "INITIATE")));
    CHECK(spoken.client.second.size() == 9 + 257 + metadata);
    CHECK(hex(Bytes(spoken.server.second).first(8)) == hex(wire(0x04, static_cast<int>(30 + metadata), 5, "READY")));
    CHECK(spoken.server.second.size() == 2 + 30 + metadata);
}

TEST_CASE("short nonces count from one on each side", "[core][zmtp][curve]") {
    const Transcript spoken = transcript();
    const auto nonce = [](const Buffer& frame, std::size_t at) {
        return hex(Bytes(frame).subspan(at, 8));
    };
    CHECK(nonce(spoken.client.first, 2 + 112) == hex(wire(0, 0, 0, 0, 0, 0, 0, 1)));
    CHECK(nonce(spoken.client.second, 9 + 105) == hex(wire(0, 0, 0, 0, 0, 0, 0, 2)));
    CHECK(nonce(spoken.server.second, 2 + 6) == hex(wire(0, 0, 0, 0, 0, 0, 0, 1)));
}

TEST_CASE("no secret is repeated between two CURVE connections", "[core][zmtp][curve]") {
    const Transcript one = transcript();
    const Transcript two = transcript();
    const auto same = [](const Buffer& a, const Buffer& b, std::size_t at, std::size_t bytes) {
        return std::equal(a.begin() + static_cast<std::ptrdiff_t>(at),
                          a.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                          b.begin() + static_cast<std::ptrdiff_t>(at));
    };
    CHECK_FALSE(same(one.client.first, two.client.first, 2 + 80, 32));     // the client's transient key
    CHECK_FALSE(same(one.server.first, two.server.first, 2 + 8, 16));      // WELCOME's nonce
    CHECK_FALSE(same(one.client.second, two.client.second, 9 + 9, 16));    // the cookie's nonce
    CHECK_FALSE(same(one.client.second, two.client.second, 9 + 113, 32));  // the box of INITIATE
}

TEST_CASE("the greeting names CURVE and the server, and only the mechanism is checked", "[core][zmtp][curve]") {
    const Transcript spoken = transcript();
    CHECK(hex(spoken.client.greeting) == hex(make_greeting("CURVE", false)));
    CHECK(hex(spoken.server.greeting) == hex(make_greeting("CURVE", true)));
    CurvePair pair;
    pair.talk([](From, int step, Buffer bytes) {
        if (step == 0) {
            bytes[32] = std::byte{0};  // as libzmq sends it as a server
        }
        return bytes;
    });
    CHECK(pair.done());
}

TEST_CASE("a NULL peer and a CURVE peer refuse each other", "[core][zmtp][curve]") {
    CurvePair pair({SocketType::dealer, {}}, curve_server());
    pair.talk();
    CHECK(pair.client.fault() == "security mechanisms do not match");
    CHECK(pair.server.fault() == "security mechanisms do not match");
}

TEST_CASE("the CURVE handshake ends the same wherever either side's bytes are split", "[core][zmtp][curve]") {
    // A transcript cannot be played twice, so each split needs its own keys.
    const std::size_t bytes = 9 + 257 + 36 + 200;
    for (std::size_t at = 0; at <= bytes; ++at) {
        CAPTURE(at);
        CurvePair pair;
        for (int step = 0; step < 3; ++step) {
            const Buffer to_server = pair.client.say();
            pair.server.hear(split_at(std::min(at, to_server.size()), to_server));
            const Buffer to_client = pair.server.say();
            pair.client.hear(split_at(std::min(at, to_client.size()), to_client));
        }
        REQUIRE(pair.done());
    }
}

TEST_CASE("the CURVE handshake works byte by byte, and traffic after it is left in the input", "[core][zmtp][curve]") {
    const std::size_t piece_bytes = GENERATE(1U, 2U, 3U, 7U, 64U, 65U);
    CAPTURE(piece_bytes);
    CurvePair pair;
    const Buffer traffic = wire("behind");
    for (int step = 0; step < 3; ++step) {
        pair.server.hear(in_pieces_of(piece_bytes, wire(pair.client.say(), step == 2 ? traffic : Buffer())));
        pair.client.hear(in_pieces_of(piece_bytes, wire(pair.server.say(), step == 2 ? traffic : Buffer())));
    }
    REQUIRE(pair.done());
    CHECK(text(pair.server.left) == "behind");
    CHECK(text(pair.client.left) == "behind");
}

TEST_CASE("metadata inside INITIATE is passed on unchanged", "[core][zmtp][curve]") {
    const Security server = CurveServer{server_keys(), nullptr};
    const Security client = CurveClient{client_keys(), server_keys().public_key};
    const Buffer metadata = GENERATE(Buffer(), wire(0), wire("anything"), Buffer(300));
    CurveHandshake speaker(client, metadata);
    CurveHandshake hearer(server, {});
    const Buffer initiate = passed_to(speaker, passed_to(hearer, started(speaker, hearer)));
    CHECK(passed_to(hearer, initiate).empty());  // READY waits for finish()
    CHECK(hearer.fault().empty());
    CHECK(hex(hearer.peer_metadata()) == hex(metadata));
}
