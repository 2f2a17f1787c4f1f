#include "zmtp/handshake.hpp"
#include "core/limits.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

using Status = Handshake::Status;

const Buffer ready_sub = wire(0x04, 0x19, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 3, "SUB");
const Buffer ready_dealer =
    wire(0x04, 0x29, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 6, "DEALER", 8, "Identity", 0, 0, 0, 0);
const Buffer ready_pub = wire(0x04, 0x19, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 3, "PUB");

[[nodiscard]] Buffer greeting(int minor) {
    return wire(0xFF, Buffer(8), 0x7F, 3, minor, "NULL", Buffer(16), 0, Buffer(31));
}

struct Outcome {
    Status status = Status::need_more;
    std::string fault;
    PeerInfo peer;
    Buffer output;
    Buffer left;  // the part of the stream after the handshake
};

[[nodiscard]] Outcome outcome(const std::vector<Buffer>& pieces, const HandshakeOptions& options = {}) {
    Handshake handshake(options);
    Outcome out;
    out.output = handshake.take_output();
    for (Buffer piece : pieces) {
        Bytes input(piece);
        out.status = handshake.feed(input);
        append_part(out.output, handshake.take_output());
        append_part(out.left, input);
    }
    out.fault = handshake.fault();
    out.peer = handshake.peer();
    return out;
}

[[nodiscard]] std::string fault_of(const Buffer& after_greeting) {
    const Outcome result = outcome({wire(greeting(1), after_greeting)});
    CHECK(result.status == Status::violation);
    return result.fault;
}

/// Returns a READY frame in the long form whose metadata is SUB and filler, `body_bytes` in total.
[[nodiscard]] Buffer ready_of_bytes(std::size_t body_bytes) {
    const Buffer head = wire(Bytes(ready_sub).subspan(2), 1, "X");
    const std::size_t value_bytes = body_bytes - head.size() - 4;
    return wire(0x06, 0, 0, 0, 0, 0, 0, static_cast<int>(body_bytes / 256), static_cast<int>(body_bytes % 256), head, 0,
                0, static_cast<int>(value_bytes / 256), static_cast<int>(value_bytes % 256),
                std::string(value_bytes, 'v'));
}

}  // namespace

TEST_CASE("our greeting is ready before any byte has arrived", "[core][zmtp]") {
    Handshake handshake({});
    CHECK(hex(handshake.take_output()) == hex(greeting(1)));
    CHECK(handshake.take_output().empty());
}

TEST_CASE("our READY follows once the peer's greeting is complete", "[core][zmtp]") {
    Handshake handshake({SocketType::dealer, "me"});
    (void)handshake.take_output();
    const Buffer theirs = greeting(1);
    Bytes most = Bytes(theirs).first(63);
    Bytes last = Bytes(theirs).subspan(63);
    REQUIRE(handshake.feed(most) == Status::need_more);
    CHECK(handshake.take_output().empty());
    REQUIRE(handshake.feed(last) == Status::need_more);
    CHECK(hex(handshake.take_output()) == hex(wire(0x04, 0x2B, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 6, "DEALER", 8,
                                                   "Identity", 0, 0, 0, 2, "me")));
}

TEST_CASE("ZMTP 3.1 and ZMTP 3.0 subscribers are accepted", "[core][zmtp]") {
    const int minor = GENERATE(0, 1);
    const Outcome result = outcome({wire(greeting(minor), ready_sub)});
    REQUIRE(result.status == Status::done);
    CHECK(int{result.peer.minor} == minor);
    CHECK(result.peer.socket_type == SocketType::sub);
    CHECK(result.peer.identity.empty());
    CHECK(hex(result.output) == hex(wire(greeting(1), ready_pub)));
}

TEST_CASE("the peer's identity is stored", "[core][zmtp]") {
    const Buffer ready =
        wire(0x04, 0x2B, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 6, "DEALER", 8, "Identity", 0, 0, 0, 2, "me");
    CHECK(outcome({wire(greeting(1), ready)}, {SocketType::router, {}}).peer.identity == "me");
    CHECK(outcome({wire(greeting(1), ready_dealer)}, {SocketType::router, {}}).peer.identity.empty());
}

TEST_CASE("traffic that follows READY at once is left in the input", "[core][zmtp]") {
    const Buffer traffic = wire(0x04, 0x0B, 9, "SUBSCRIBEA", 0x00, 2, 1, "B");
    const Outcome result = outcome({wire(greeting(1), ready_sub, traffic)});
    REQUIRE(result.status == Status::done);
    CHECK(hex(result.left) == hex(traffic));
}

TEST_CASE("a finished handshake consumes nothing more", "[core][zmtp]") {
    const Outcome result = outcome({wire(greeting(1), ready_sub), wire(0xFF, "anything")});
    CHECK(result.status == Status::done);
    CHECK(hex(result.left) == hex(wire(0xFF, "anything")));
    CHECK(hex(result.output) == hex(wire(greeting(1), ready_pub)));
}

TEST_CASE("the handshake ends the same wherever the stream is split in two", "[core][zmtp]") {
    const int minor = GENERATE(0, 1);
    const Buffer stream = wire(greeting(minor), ready_sub, 0x00, 1, 1);
    for (std::size_t at = 0; at <= stream.size(); ++at) {
        CAPTURE(minor, at);
        const Outcome result = outcome(split_at(at, stream));
        REQUIRE(result.status == Status::done);
        REQUIRE(int{result.peer.minor} == minor);
        REQUIRE(hex(result.output) == hex(wire(greeting(1), ready_pub)));
        REQUIRE(hex(result.left) == hex(wire(0x00, 1, 1)));
    }
}

TEST_CASE("the handshake ends the same in pieces of any size", "[core][zmtp]") {
    const Buffer stream = wire(greeting(1), ready_sub, 0x00, 1, 1);
    for (std::size_t piece_bytes = 1; piece_bytes <= stream.size(); ++piece_bytes) {
        CAPTURE(piece_bytes);
        const Outcome result = outcome(in_pieces_of(piece_bytes, stream));
        REQUIRE(result.status == Status::done);
        REQUIRE(hex(result.left) == hex(wire(0x00, 1, 1)));
    }
}

TEST_CASE("a truncated handshake waits for more", "[core][zmtp]") {
    const Buffer stream = wire(greeting(1), ready_sub);
    for (std::size_t bytes = 0; bytes < stream.size(); ++bytes) {
        CAPTURE(bytes);
        const Bytes part = Bytes(stream).first(bytes);
        CHECK(outcome({Buffer(part.begin(), part.end())}).status == Status::need_more);
    }
}

TEST_CASE("an invalid greeting ends the handshake without our READY", "[core][zmtp]") {
    const Outcome result = outcome({wire("GET / HTTP/1.1\r\n\r\n")});
    CHECK(result.status == Status::violation);
    CHECK(result.fault == "not a ZMTP greeting");
    CHECK(hex(result.output) == hex(greeting(1)));
}

TEST_CASE("a peer with another mechanism is refused", "[core][zmtp]") {
    const Buffer theirs = wire(0xFF, Buffer(8), 0x7F, 3, 1, "CURVE", Buffer(15), 0, Buffer(31));
    CHECK(outcome({theirs}).fault == "security mechanisms do not match");
}

TEST_CASE("the first frame must be READY", "[core][zmtp]") {
    const std::string wanted = "first frame is not READY";
    CHECK(fault_of(wire(0x04, 7, 4, "PING", 0, 0)) == wanted);
    CHECK(fault_of(wire(0x04, 0x0B, 9, "SUBSCRIBEA")) == wanted);
    CHECK(fault_of(wire(0x00, 2, 1, "A")) == wanted);
    CHECK(fault_of(wire(0x00, 0)) == wanted);
    CHECK(fault_of(wire(0x04, 0)) == wanted);
    CHECK(fault_of(wire(0x04, 6, 5, "ready")) == wanted);
}

TEST_CASE("READY without the COMMAND flag is not READY", "[core][zmtp]") {
    Buffer ready = ready_sub;
    ready[0] = std::byte{0x00};
    CHECK(fault_of(ready) == "first frame is not READY");
}

TEST_CASE("an ERROR ends the handshake and its reason is not passed on", "[core][zmtp]") {
    const Outcome result = outcome({wire(greeting(1), 0x04, 0x0C, 5, "ERROR", 5, "\x1b[31m")});
    CHECK(result.status == Status::violation);
    CHECK(result.fault == "peer sent ERROR");
}

TEST_CASE("a READY with invalid contents is refused", "[core][zmtp]") {
    CHECK(fault_of(wire(0x04, 6, 5, "READY")) == "READY without Socket-Type");
    CHECK(fault_of(wire(0x04, 0x18, Bytes(ready_sub).subspan(2, 0x18))) == "truncated READY");
    CHECK(fault_of(wire(0x04, 7, 5, "READY", 0)) == "READY with an empty property name");
}

TEST_CASE("a frame that no peer may send is refused during the handshake too", "[core][zmtp]") {
    CHECK(fault_of(wire(0x05)) == "command frame with MORE");
    CHECK(fault_of(wire(0x84)) == "reserved frame flag set");
    CHECK(fault_of(wire(0x06, 0x80, Buffer(7))) == "frame size with bit 63 set");
}

TEST_CASE("READY has a separate size limit", "[core][zmtp]") {
    const Buffer largest = ready_of_bytes(limits::metadata_bytes_max);
    CHECK(outcome({wire(greeting(1), largest)}).status == Status::done);
    CHECK(outcome(in_pieces_of(7, wire(greeting(1), largest))).status == Status::done);
    CHECK(fault_of(ready_of_bytes(limits::metadata_bytes_max + 1)) == "frame over the size limit");
}

TEST_CASE("socket types that cannot be connected are refused", "[core][zmtp]") {
    auto [ours, ready, fits] = GENERATE(table<SocketType, Buffer, bool>({{SocketType::pub, ready_sub, true},
                                                                         {SocketType::pub, ready_dealer, false},
                                                                         {SocketType::pub, ready_pub, false},
                                                                         {SocketType::sub, ready_pub, true},
                                                                         {SocketType::sub, ready_sub, false},
                                                                         {SocketType::router, ready_dealer, true}}));
    CAPTURE(to_string(ours), hex(ready));
    const Outcome result = outcome({wire(greeting(1), ready)}, {ours, {}});
    CHECK(result.status == (fits ? Status::done : Status::violation));
    CHECK(result.fault == (fits ? "" : "socket types do not match"));
}

TEST_CASE("a violation is final", "[core][zmtp]") {
    const Outcome result = outcome({wire("no"), wire(greeting(1), ready_sub)});
    CHECK(result.status == Status::violation);
    CHECK(result.fault == "not a ZMTP greeting");
    CHECK(hex(result.output) == hex(greeting(1)));
}

TEST_CASE("two of our handshakes work with each other", "[core][zmtp]") {
    Handshake publisher({SocketType::pub, {}});
    Handshake subscriber({SocketType::sub, {}});
    Status ours = Status::need_more;
    Status theirs = Status::need_more;
    for (int turn = 0; turn < 2; ++turn) {
        const Buffer to_subscriber = publisher.take_output();
        const Buffer to_publisher = subscriber.take_output();
        Bytes input(to_publisher);
        ours = publisher.feed(input);
        input = to_subscriber;
        theirs = subscriber.feed(input);
    }
    CHECK(ours == Status::done);
    CHECK(theirs == Status::done);
    CHECK(publisher.peer().socket_type == SocketType::sub);
    CHECK(subscriber.peer().socket_type == SocketType::pub);
}
