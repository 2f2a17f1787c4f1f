#pragma once

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "zmtp/curve_handshake.hpp"
#include "zmtp/handshake.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Shared by the CURVE tests: two of our handshakes, and a party between them that can tamper.
namespace telegate::zmtp::test {

/// Keys that the tests of one program share, because generating them takes a while.
inline const CurveKeyPair& server_keys() {
    static const CurveKeyPair keys = make_curve_key_pair();
    return keys;
}
inline const CurveKeyPair& client_keys() {
    static const CurveKeyPair keys = make_curve_key_pair();
    return keys;
}

[[nodiscard]] inline HandshakeOptions curve_server(SocketType type = SocketType::router, std::string identity = {}) {
    return {type, std::move(identity), CurveServer{server_keys(), nullptr}};
}
[[nodiscard]] inline HandshakeOptions curve_client(SocketType type = SocketType::dealer, std::string identity = {}) {
    return {type, std::move(identity), CurveClient{client_keys(), server_keys().public_key}};
}

/// One side: its handshake and the result.
struct CurveSide {
    explicit CurveSide(const HandshakeOptions& options) : handshake(std::make_unique<Handshake>(options)) {}

    /// Returns what it sends next.
    [[nodiscard]] Buffer say() { return handshake->take_output(); }
    void hear(const Buffer& bytes) {
        Bytes input(bytes);
        status = handshake->feed(input);
        append_part(left, input);
    }
    void hear(const std::vector<Buffer>& pieces) {
        for (const Buffer& piece : pieces) {
            hear(piece);
        }
    }
    [[nodiscard]] std::string fault() const { return std::string(handshake->fault()); }

    std::unique_ptr<Handshake> handshake;
    Handshake::Status status = Handshake::Status::need_more;
    Buffer left;  // data after the handshake
};

/// The output of a side, in order: 0 greeting, 1 HELLO or WELCOME, 2 INITIATE or READY.
enum class From { client, server };
using Tamper = std::function<Buffer(From from, int step, Buffer bytes)>;

struct CurvePair {
    CurveSide client;
    CurveSide server;

    CurvePair(const HandshakeOptions& client_options, const HandshakeOptions& server_options)
        : client(client_options), server(server_options) {}
    CurvePair() : CurvePair(curve_client(), curve_server()) {}

    /// Lets both talk until neither has anything to send.
    void talk(const Tamper& tamper = nullptr) {
        constexpr int steps = 3;
        for (int step = 0; step < steps; ++step) {
            Buffer to_server = client.say();
            server.hear(tamper ? tamper(From::client, step, std::move(to_server)) : std::move(to_server));
            Buffer to_client = server.say();
            client.hear(tamper ? tamper(From::server, step, std::move(to_client)) : std::move(to_client));
        }
    }
    [[nodiscard]] bool done() const {
        return client.status == Handshake::Status::done && server.status == Handshake::Status::done;
    }
};

/// The data that each side sent.
struct Spoken {
    Buffer greeting;
    Buffer first;
    Buffer second;
};
struct Transcript {
    Spoken client;
    Spoken server;
};

[[nodiscard]] inline Transcript transcript() {
    Transcript out;
    CurvePair pair;
    pair.talk([&out](From from, int step, Buffer bytes) {
        Spoken& spoken = from == From::client ? out.client : out.server;
        (step == 0 ? spoken.greeting : step == 1 ? spoken.first : spoken.second) = bytes;
        return bytes;
    });
    TELEGATE_ASSERT(pair.done());
    return out;
}

/// Returns the HELLO.
[[nodiscard]] inline Buffer started(CurveHandshake& client, CurveHandshake& server) {
    Buffer out;
    TELEGATE_ASSERT(server.start(out) == CurveHandshake::Status::need_more && out.empty());
    TELEGATE_ASSERT(client.start(out) == CurveHandshake::Status::need_more);
    return out;
}

/// Returns the reply of `to` to the command frame.
[[nodiscard]] inline Buffer passed_to(CurveHandshake& to, const Buffer& frame) {
    FrameDecoder decoder(limits::metadata_bytes_max);
    Bytes input(frame);
    TELEGATE_ASSERT(decoder.feed(input) == FeedStatus::frame_ready);
    Buffer answer;
    (void)to.receive(*parse_command(decoder.frame().body), answer);
    return answer;
}

}  // namespace telegate::zmtp::test
