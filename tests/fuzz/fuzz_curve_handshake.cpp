// The CURVE handshake and its traffic. The first input byte selects how the rest is used: bytes for one side, edits of
// what two sides send, metadata inside the boxes, or traffic.
#include "core/assert.hpp"
#include "core/limits.hpp"
#include "zmtp/curve_handshake.hpp"
#include "zmtp/handshake.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::zmtp;

namespace {

using Buffer = std::vector<std::byte>;
using Status = Handshake::Status;

[[nodiscard]] const CurveKeyPair& server_keys() {
    static const CurveKeyPair keys = make_curve_key_pair();
    return keys;
}

[[nodiscard]] HandshakeOptions options_of(bool as_server) {
    static const CurveKeyPair client_keys = make_curve_key_pair();
    if (as_server) {
        return {SocketType::router, "server", CurveServer{server_keys(), nullptr}};
    }
    return {SocketType::dealer, "client", CurveClient{client_keys, server_keys().public_key}};
}

/// Takes one number off the front of the input; 0 if the input is empty.
[[nodiscard]] std::uint8_t take_byte(Bytes& input) {
    if (input.empty()) {
        return 0;
    }
    const auto byte = std::to_integer<std::uint8_t>(input.front());
    input = input.subspan(1);
    return byte;
}

[[nodiscard]] Status feed(Handshake& handshake, Bytes stream, std::size_t piece_bytes) {
    Status status = Status::need_more;
    do {
        const Buffer piece(stream.begin(),
                           stream.begin() + static_cast<std::ptrdiff_t>(std::min(piece_bytes, stream.size())));
        stream = stream.subspan(piece.size());
        Bytes input(piece);
        status = handshake.feed(input);
        TELEGATE_ASSERT(status != Status::need_more || input.empty());
    } while (status == Status::need_more && !stream.empty());
    TELEGATE_ASSERT(handshake.fault().empty() == (status != Status::violation));
    return status;
}

/// Checks that bytes made without the keys never complete a handshake, and that splitting them makes no difference.
void feed_bytes(Bytes stream) {
    const std::uint8_t choice = take_byte(stream);
    const bool as_server = choice % 2 == 0;
    const Greeting greeting = make_greeting("CURVE", !as_server);
    Handshake whole(options_of(as_server));
    Handshake pieces(options_of(as_server));
    for (Handshake* const handshake : {&whole, &pieces}) {
        Bytes input(greeting);
        TELEGATE_ASSERT(handshake->feed(input) == Status::need_more);
    }
    const Status status = feed(whole, stream, std::max<std::size_t>(stream.size(), 1));
    TELEGATE_ASSERT(status != Status::done && !whole.take_cipher());
    TELEGATE_ASSERT(feed(pieces, stream, 1U + choice / 2U) == status);
    TELEGATE_ASSERT(whole.fault() == pieces.fault());
    TELEGATE_ASSERT(whole.take_output().size() == pieces.take_output().size());
}

/// Two sides, with an attacker between them that flips bits, truncates and repeats.
struct Side {
    Handshake handshake;
    Status status = Status::need_more;
    bool heard_other = false;  // received other bytes than the peer sent after the greeting

    explicit Side(bool as_server) : handshake(options_of(as_server)) {}
};

[[nodiscard]] Buffer edited(Buffer said, Bytes& edits) {
    const std::uint8_t kind = take_byte(edits);
    if (said.empty() || kind % 8 < 4) {
        return said;
    }
    const std::size_t at = (256U * take_byte(edits) + take_byte(edits)) % said.size();
    switch (kind % 8) {
        case 4:
        case 5: said[at] ^= std::byte{take_byte(edits)}; break;
        case 6: said.resize(at); break;
        default: said.insert(said.end(), said.begin(), said.begin() + static_cast<std::ptrdiff_t>(at)); break;
    }
    return said;
}

void edit_talk(Bytes edits) {
    const std::size_t piece_bytes = 1U + take_byte(edits);
    Side client(false);
    Side server(true);
    constexpr int steps = 4;
    for (int step = 0; step < steps; ++step) {
        for (const auto& [from, to] : {std::pair(&client, &server), std::pair(&server, &client)}) {
            const Buffer said = from->handshake.take_output();
            const Buffer heard = edited(said, edits);
            // Data after the handshake is for the cipher to check.
            const bool begins_as_said =
                heard.size() >= said.size() && std::equal(said.begin(), said.end(), heard.begin());
            to->heard_other |= step > 0 && to->status != Status::done && !begins_as_said;
            to->status = feed(to->handshake, heard, piece_bytes);
            TELEGATE_ASSERT(!to->heard_other || to->status != Status::done);
        }
    }
}

/// Checks that with valid boxes, their contents determine the result.
void send_metadata(Bytes metadata) {
    const HandshakeOptions client_options = options_of(false);
    CurveHandshake client(client_options.security, {metadata.begin(), metadata.end()});
    Handshake server(options_of(true));
    const Greeting greeting = make_greeting("CURVE", false);
    Status status = feed(server, greeting, greeting.size());
    (void)server.take_output();
    Buffer said;
    TELEGATE_ASSERT(client.start(said) == CurveHandshake::Status::need_more);
    status = feed(server, said, said.size());
    TELEGATE_ASSERT(status == Status::need_more);

    const Buffer welcome = server.take_output();
    FrameDecoder decoder(limits::metadata_bytes_max);
    Bytes input(welcome);
    TELEGATE_ASSERT(decoder.feed(input) == FeedStatus::frame_ready);
    Buffer initiate;
    TELEGATE_ASSERT(client.receive(*parse_command(decoder.frame().body), initiate) ==
                    CurveHandshake::Status::need_more);
    status = feed(server, initiate, initiate.size());

    const ReadyResult ready = parse_ready(metadata);
    const bool fits = ready.properties && compatible(SocketType::router, *ready.properties->socket_type) &&
                      initiate.size() <= frame_header_bytes_max + limits::metadata_bytes_max;
    TELEGATE_ASSERT(status == (fits ? Status::done : Status::violation));
    TELEGATE_ASSERT(server.take_output().empty() != fits);
}

/// Checks that a frame opens if and only if it is unchanged, and only once.
void pass_traffic(Bytes input) {
    constexpr std::array<std::uint8_t, 3> all_flags = {0, frame_flag::more, frame_flag::command};
    const std::uint8_t flags = all_flags[take_byte(input) % all_flags.size()];
    const std::uint8_t turned = take_byte(input);
    const std::size_t at = 256U * take_byte(input) + take_byte(input);
    CurveCipher client(server_keys().public_key, false, 2, 1);
    CurveCipher server(server_keys().public_key, true, 1, 2);
    Buffer stray(input.begin(), input.end());
    TELEGATE_ASSERT(!server.open(stray).ok);

    Buffer frame(CurveCipher::sealed_bytes(input.size()));
    TELEGATE_ASSERT(client.seal(frame.data(), flags, input) == frame.size());
    const std::size_t header_bytes = frame.size() > 2 + short_body_bytes_max ? frame_header_bytes_max : 2;
    Buffer body(frame.begin() + static_cast<std::ptrdiff_t>(header_bytes), frame.end());
    const Buffer good = body;
    body[at % body.size()] ^= std::byte{turned};
    const OpenedFrame opened = server.open(body);
    TELEGATE_ASSERT(opened.ok == (turned == 0));
    body = good;
    TELEGATE_ASSERT(opened.ok != server.open(body).ok);
    body = good;
    TELEGATE_ASSERT(!server.open(body).ok);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes input = std::as_bytes(std::span(data, size));
    constexpr std::array<void (*)(Bytes), 4> uses = {feed_bytes, edit_talk, send_metadata, pass_traffic};
    uses[take_byte(input) % uses.size()](input);
    return 0;
}
