// Greeting and NULL handshake, from either side. The first input byte selects our socket type and how the rest, the
// peer's bytes, is split into pieces.
#include "core/assert.hpp"
#include "core/limits.hpp"
#include "zmtp/handshake.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::zmtp;

namespace {

using Status = Handshake::Status;

struct Outcome {
    Status status = Status::need_more;
    std::string fault;
    PeerInfo peer;
    std::vector<std::byte> output;
    std::size_t consumed = 0;  // compared only when done, because a violation may leave any part of the input
};

[[nodiscard]] Outcome outcome(const HandshakeOptions& options, Bytes stream, std::size_t piece_bytes) {
    Handshake handshake(options);
    Outcome out;
    out.output = handshake.take_output();
    while (out.status == Status::need_more && !stream.empty()) {
        const Bytes piece = stream.first(std::min(piece_bytes, stream.size()));
        Bytes input = piece;
        out.status = handshake.feed(input);
        TELEGATE_ASSERT(out.status != Status::need_more || input.empty());
        const std::vector<std::byte> more = handshake.take_output();
        out.output.insert(out.output.end(), more.begin(), more.end());
        out.consumed += piece.size() - input.size();
        stream = stream.subspan(piece.size());
    }
    out.fault = handshake.fault();
    out.peer = handshake.peer();
    return out;
}

/// Checks that we send our greeting, then READY or nothing, and never ERROR.
void check_output(const HandshakeOptions& options, const Outcome& out) {
    const Greeting greeting = make_greeting("NULL", false);
    std::vector<std::byte> expected(greeting.begin(), greeting.end());
    if (out.output.size() > expected.size() || out.status == Status::done) {
        append_ready(expected, options.socket_type, options.identity);
    }
    TELEGATE_ASSERT(out.output == expected);
}

void check_peer(const HandshakeOptions& options, const Outcome& out) {
    TELEGATE_ASSERT(out.fault.empty() == (out.status != Status::violation));
    if (out.status == Status::done) {
        TELEGATE_ASSERT(out.peer.minor <= 1);
        TELEGATE_ASSERT(compatible(options.socket_type, out.peer.socket_type));
        TELEGATE_ASSERT(out.peer.identity.size() <= limits::identity_bytes_max);
        TELEGATE_ASSERT(!out.peer.identity.starts_with('\0'));
        TELEGATE_ASSERT(out.consumed <= greeting_bytes + frame_header_bytes_max + limits::metadata_bytes_max);
    }
}

void check_same(const Outcome& a, const Outcome& b) {
    TELEGATE_ASSERT(a.status == b.status && a.fault == b.fault && a.output == b.output);
    if (a.status == Status::done) {
        TELEGATE_ASSERT(a.peer.minor == b.peer.minor && a.peer.socket_type == b.peer.socket_type);
        TELEGATE_ASSERT(a.peer.identity == b.peer.identity && a.consumed == b.consumed);
    }
}

/// Checks that a verdict does not change when more of the greeting arrives.
void check_greeting_verdict(Bytes stream) {
    GreetingStatus before = GreetingStatus::need_more;
    for (std::size_t seen = 0; seen <= std::min(stream.size(), greeting_bytes); ++seen) {
        const GreetingStatus now = check_greeting(stream.first(seen), "NULL").status;
        TELEGATE_ASSERT(before == GreetingStatus::need_more || now == before);
        TELEGATE_ASSERT((now == GreetingStatus::ok) <= (seen == greeting_bytes));
        before = now;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    constexpr unsigned socket_types = 11;
    const HandshakeOptions options{static_cast<SocketType>(data[0] % socket_types), "ours"};
    const std::size_t piece_bytes = 2U + data[0] / socket_types;
    const Bytes stream = std::as_bytes(std::span(data + 1, size - 1));

    check_greeting_verdict(stream);
    const Outcome whole = outcome(options, stream, std::max<std::size_t>(stream.size(), 1));
    check_output(options, whole);
    check_peer(options, whole);
    check_same(whole, outcome(options, stream, 1));
    check_same(whole, outcome(options, stream, piece_bytes));
    return 0;
}
