#include "core/limits.hpp"
#include "core/zmtp/curve_pair.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"
#include "zmtp/curve_handshake.hpp"
#include "zmtp/handshake.hpp"

#include <algorithm>

using namespace telegate;
using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

using Status = Handshake::Status;

/// Returns the pair after one bit of what `from` sends in `step` was flipped.
[[nodiscard]] CurvePair talk_with_flip(From from, int step, std::size_t bit) {
    CurvePair pair;
    pair.talk([=](From who, int when, Buffer bytes) {
        if (who == from && when == step && bit / 8 < bytes.size()) {
            bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        }
        return bytes;
    });
    return pair;
}

[[nodiscard]] Buffer curve_greeting() {
    const Greeting greeting = make_greeting("CURVE", false);
    return {greeting.begin(), greeting.end()};
}

/// Returns the fault of a server that receives `bytes` after a valid greeting.
[[nodiscard]] std::string server_fault(const Buffer& bytes) {
    CurveSide server(curve_server());
    server.hear(wire(curve_greeting(), bytes));
    CHECK(server.status == Status::violation);
    return server.fault();
}

[[nodiscard]] Buffer command_frame(std::string_view name, const Buffer& data) {
    Buffer out;
    append_command(out, name, data);
    return out;
}

[[nodiscard]] Buffer hello_data() {
    CurveSide client(curve_client());
    (void)client.say();
    client.hear(curve_greeting());
    const Buffer frame = client.say();
    return {frame.begin() + 2 + 6, frame.end()};
}

}  // namespace

TEST_CASE("no bit of a CURVE command can be flipped in transit", "[core][zmtp][curve]") {
    const auto [from, step] =
        GENERATE(table<From, int>({{From::client, 1}, {From::server, 1}, {From::client, 2}, {From::server, 2}}));
    const Transcript spoken = transcript();
    const Spoken& side = from == From::client ? spoken.client : spoken.server;
    const std::size_t bits = 8 * (step == 1 ? side.first : side.second).size();
    for (std::size_t bit = 0; bit < bits; ++bit) {
        const CurvePair pair = talk_with_flip(from, step, bit);
        const CurveSide& hearer = from == From::client ? pair.server : pair.client;
        CAPTURE(from == From::client, step, bit / 8, bit % 8);
        REQUIRE(hearer.status != Status::done);
    }
}

TEST_CASE("a client with the wrong server key is refused at its HELLO", "[core][zmtp][curve]") {
    HandshakeOptions options = curve_client();
    std::get<CurveClient>(options.security).server_key = client_keys().public_key;
    CurvePair pair(options, curve_server());
    pair.talk();
    CHECK(pair.server.fault() == "cannot decrypt HELLO: made for a different server key");
    CHECK(pair.client.status == Status::need_more);
}

TEST_CASE("a server with a different key cannot reply to a HELLO", "[core][zmtp][curve]") {
    // WELCOME of another connection is used as that of a server without the right key.
    const Transcript other = transcript();
    CurvePair pair;
    pair.talk([&other](From from, int step, Buffer bytes) {
        return from == From::server && step == 1 ? other.server.first : bytes;
    });
    CHECK(pair.client.fault() == "cannot decrypt WELCOME: made with a different server key");
}

TEST_CASE("an invalid server key gives the client a fault and no session", "[core][zmtp][curve]") {
    HandshakeOptions options = curve_client();
    std::get<CurveClient>(options.security).server_key = CurveKey{};
    CurvePair pair(options, curve_server());
    pair.talk();
    CHECK(pair.client.fault() == "invalid server key");
}

TEST_CASE("a client must own the secret of the key that it names", "[core][zmtp][curve]") {
    HandshakeOptions options = curve_client();
    std::get<CurveClient>(options.security).keys.secret_key = make_curve_key_pair().secret_key;
    CurvePair pair(options, curve_server());
    pair.talk();
    CHECK(pair.server.fault() == "INITIATE does not prove the client key");
    CHECK(pair.client.status == Status::need_more);
}

TEST_CASE("only clients whose keys are in the directory are accepted", "[core][zmtp][curve]") {
    const telegate::test::ScratchDir scratch;
    const bool listed = GENERATE(true, false);
    save_curve_key_pair(listed ? client_keys() : make_curve_key_pair(), scratch.path("client"));
    HandshakeOptions options = curve_server();
    std::get<CurveServer>(options.security).clients = std::make_shared<CurveClients>(scratch.path());
    CurvePair pair(curve_client(), options);
    pair.talk();
    CHECK(pair.done() == listed);
    CHECK(pair.server.fault() == (listed ? "" : "client key not allowed"));
    CHECK(pair.server.say().empty());  // no ERROR: a libzmq client that receives one never reconnects
}

TEST_CASE("commands of one connection are worthless on another", "[core][zmtp][curve]") {
    const Transcript other = transcript();
    const auto [who, when, server_fault, client_fault] = GENERATE(table<From, int, std::string, std::string>(
        {{From::client, 1, "", "cannot decrypt WELCOME: made with a different server key"},
         {From::client, 2, "INITIATE with an invalid cookie", ""},
         {From::server, 1, "", "cannot decrypt WELCOME: made with a different server key"},
         {From::server, 2, "", "cannot decrypt READY"}}));
    CurvePair pair;
    pair.talk([&other, from = who, at = when](From side, int step, Buffer bytes) {
        const Spoken& spoken = side == From::client ? other.client : other.server;
        return side == from && step == at ? (step == 1 ? spoken.first : spoken.second) : bytes;
    });
    CHECK(pair.server.fault() == server_fault);
    CHECK(pair.client.fault() == client_fault);
    CHECK_FALSE(pair.done());
}

TEST_CASE("CURVE commands out of order are refused", "[core][zmtp][curve]") {
    const Transcript other = transcript();
    CHECK(server_fault(other.client.second) == "first command is not a CURVE HELLO");
    CHECK(server_fault(other.server.first) == "first command is not a CURVE HELLO");
    CHECK(server_fault(wire(other.client.first, other.client.first)) == "second command is not a CURVE INITIATE");
    CHECK(server_fault(wire(0x04, 5, 4, "PING")) == "first command is not a CURVE HELLO");
    CHECK(server_fault(wire(0x00, 1, 1)) == "handshake frame is not a command");
    CHECK(server_fault(wire(0x04, 1, 0)) == "handshake frame is not a command");
    CHECK(server_fault(wire(0x04, 0x0A, 5, "ERROR", 3, "400")) == "peer sent ERROR");
}

TEST_CASE("a server requires version 1.0 of CURVE, zero padding and the exact size", "[core][zmtp][curve]") {
    Buffer data = hello_data();
    SECTION("major") {
        data[0] = std::byte{2};
        CHECK(server_fault(command_frame("HELLO", data)) == "unsupported CURVE version");
    }
    SECTION("minor") {
        data[1] = std::byte{1};
        CHECK(server_fault(command_frame("HELLO", data)) == "unsupported CURVE version");
    }
    SECTION("padding") {
        data[2 + 71] = std::byte{1};
        CHECK(server_fault(command_frame("HELLO", data)) == "HELLO with nonzero padding");
    }
    SECTION("one byte less") {
        data.pop_back();
        CHECK(server_fault(command_frame("HELLO", data)) == "first command is not a CURVE HELLO");
    }
    SECTION("one byte more") {
        data.push_back(std::byte{0});
        CHECK(server_fault(command_frame("HELLO", data)) == "first command is not a CURVE HELLO");
    }
    SECTION("an invalid transient key") {
        std::fill_n(data.begin() + 2 + 72, 32, std::byte{0});
        CHECK(server_fault(command_frame("HELLO", data)) == "cannot decrypt HELLO: made for a different server key");
    }
}

TEST_CASE("a CURVE command truncated at any byte is refused", "[core][zmtp][curve]") {
    const auto [from, step] =
        GENERATE(table<From, int>({{From::client, 1}, {From::server, 1}, {From::client, 2}, {From::server, 2}}));
    std::size_t bytes_kept = 0;
    bool was_whole = false;
    while (!was_whole) {
        CurvePair pair;
        pair.talk([&, who = from, when = step](From side, int now, Buffer bytes) {
            if (side != who || now != when) {
                return bytes;
            }
            const std::size_t header_bytes = (std::to_integer<unsigned>(bytes[0]) & 2U) != 0 ? 9 : 2;
            const Buffer body(bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes), bytes.end());
            was_whole = bytes_kept == body.size();
            Buffer out(frame_header_bytes_max);
            out.resize(write_frame_header(out.data(), frame_flag::command, bytes_kept));
            append_part(out, Bytes(body).first(bytes_kept));
            return out;
        });
        CAPTURE(bytes_kept);
        REQUIRE(pair.done() == was_whole);
        ++bytes_kept;
    }
}

TEST_CASE("INITIATE is bounded by the limit for metadata", "[core][zmtp][curve]") {
    const Buffer header = wire(0x06, 0, 0, 0, 0, 0, 0, static_cast<int>((limits::metadata_bytes_max + 1) / 256), 1);
    CHECK(server_fault(header) == "frame over the size limit");
}

TEST_CASE("socket types that cannot be connected are refused inside CURVE too, before READY", "[core][zmtp][curve]") {
    CurvePair pair(curve_client(SocketType::sub), curve_server(SocketType::router));
    pair.talk();
    CHECK(pair.server.fault() == "socket types do not match");
    CHECK(pair.client.status == Status::need_more);
    CHECK_FALSE(pair.server.handshake->take_cipher());
}

TEST_CASE("a client's proof for one server is worthless at another", "[core][zmtp][curve]") {
    const Security server = CurveServer{server_keys(), nullptr};
    Security client = CurveClient{client_keys(), server_keys().public_key};
    CurveHandshake speaker(client, {});
    CurveHandshake hearer(server, {});
    const Buffer welcome = passed_to(hearer, started(speaker, hearer));
    // HELLO was for this server; the client's proof of its key is for another.
    std::get<CurveClient>(client).server_key = make_curve_key_pair().public_key;
    (void)passed_to(hearer, passed_to(speaker, welcome));
    CHECK(hearer.fault() == "INITIATE does not prove the client key");
}
