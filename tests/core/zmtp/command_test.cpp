#include "zmtp/command.hpp"
#include "zmtp/decoder.hpp"

#include <algorithm>
#include "core/limits.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

using enum SocketType;
using Kind = Subscription::Kind;
constexpr SocketType all_types[] = {pair, pub, sub, req, rep, dealer, router, pull, push, xpub, xsub};

[[nodiscard]] Buffer property(std::string_view name, std::string_view value) {
    const auto size = static_cast<int>(value.size());
    return wire(static_cast<int>(name.size()), name, 0, 0, size / 256, size % 256, value);
}

const Buffer type_sub = property("Socket-Type", "SUB");

[[nodiscard]] Buffer ready_of(SocketType type, std::string_view identity) {
    Buffer out;
    append_ready(out, type, identity);
    return out;
}

/// The data of a whole READY frame with a short header.
[[nodiscard]] Bytes ready_data(const Buffer& frame) {
    return Bytes(frame).subspan(2 + 6);
}

[[nodiscard]] std::string kind_and_prefix(const Frame& frame) {
    const auto subscription = parse_subscription(frame);
    if (!subscription) {
        return "none";
    }
    return (subscription->kind == Kind::subscribe ? "+" : "-") + text(subscription->prefix);
}

}  // namespace

TEST_CASE("socket types keep their names", "[core][zmtp]") {
    for (const SocketType type : all_types) {
        CAPTURE(to_string(type));
        CHECK(parse_socket_type(to_string(type)) == type);
    }
    CHECK(to_string(pub) == "PUB");
    CHECK(to_string(xsub) == "XSUB");
    const std::string other = GENERATE("", "sub", "SUBX", "SU", "RADIO", "CLIENT");
    CAPTURE(other);
    CHECK_FALSE(parse_socket_type(other));
}

TEST_CASE("the socket types that can be connected are those of the standard", "[core][zmtp]") {
    const std::vector<std::string> pairs = {"PAIR PAIR", "PUB SUB",       "PUB XSUB",      "XPUB SUB",
                                            "XPUB XSUB", "REQ REP",       "REQ ROUTER",    "REP DEALER",
                                            "PULL PUSH", "DEALER DEALER", "DEALER ROUTER", "ROUTER ROUTER"};
    const auto listed = [&pairs](SocketType a, SocketType b) {
        const std::string text = std::string(to_string(a)) + " " + std::string(to_string(b));
        return std::find(pairs.begin(), pairs.end(), text) != pairs.end();
    };
    for (const SocketType ours : all_types) {
        for (const SocketType theirs : all_types) {
            CAPTURE(to_string(ours), to_string(theirs));
            CHECK(compatible(ours, theirs) == (listed(ours, theirs) || listed(theirs, ours)));
        }
    }
}

TEST_CASE("READY is what libzmq expects, to the byte", "[core][zmtp]") {
    CHECK(hex(ready_of(dealer, "")) ==
          hex(wire(0x04, 0x29, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 6, "DEALER", 8, "Identity", 0, 0, 0, 0)));
    CHECK(hex(ready_of(xpub, "")) == hex(wire(0x04, 0x1A, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 4, "XPUB")));
    CHECK(hex(ready_of(sub, "")) == hex(wire(0x04, 0x19, 5, "READY", 0x0B, "Socket-Type", 0, 0, 0, 3, "SUB")));
}

TEST_CASE("only REQ, DEALER and ROUTER send their identity", "[core][zmtp]") {
    for (const SocketType type : all_types) {
        CAPTURE(to_string(type));
        const Buffer frame = ready_of(type, "me");
        const ReadyResult result = parse_ready(ready_data(frame));
        REQUIRE(result.properties);
        const bool sends = type == req || type == dealer || type == router;
        CHECK(result.properties->identity == (sends ? "me" : ""));
        CHECK(result.properties->socket_type == type);
    }
}

TEST_CASE("READY with the longest identity uses the long form", "[core][zmtp]") {
    const std::string identity(255, 'i');
    const Buffer frame = ready_of(dealer, identity);
    REQUIRE(frame[0] == std::byte{0x06});
    REQUIRE(message_bytes_at(frame.data()) == frame.size());
    const ReadyResult result = parse_ready(Bytes(frame).subspan(9 + 6));
    REQUIRE(result.properties);
    CHECK(result.properties->identity == identity);
}

TEST_CASE("a command is its name and its data", "[core][zmtp]") {
    const Buffer body = wire(4, "PINGrest");
    const auto command = parse_command(body);
    REQUIRE(command);
    CHECK(command->name == "PING");
    CHECK(text(command->data) == "rest");
    CHECK(parse_command(wire(1, "A"))->data.empty());
}

TEST_CASE("a body without a whole name is not a command", "[core][zmtp]") {
    const Buffer body = GENERATE(wire(), wire(0), wire(0, "READY"), wire(1), wire(6, "READY"), wire(255, "x"));
    CAPTURE(hex(body));
    CHECK_FALSE(parse_command(body));
}

TEST_CASE("READY's property names are not case-sensitive", "[core][zmtp]") {
    const Buffer data = wire(property("SOCKET-type", "SUB"), property("iDENTITY", "me"));
    const ReadyResult result = parse_ready(data);
    REQUIRE(result.properties);
    CHECK(result.properties->socket_type == sub);
    CHECK(result.properties->identity == "me");
    CHECK(result.fault.empty());
}

TEST_CASE("unknown properties in READY are skipped", "[core][zmtp]") {
    const Buffer data = wire(property("X-Site", "north"), property("Resource", ""), type_sub,
                             property("X-Site", "again"), property("Identity", ""));
    const ReadyResult result = parse_ready(data);
    REQUIRE(result.properties);
    CHECK(result.properties->socket_type == sub);
    CHECK(result.properties->identity.empty());
}

TEST_CASE("an identity has 0 to 255 bytes, the first not zero", "[core][zmtp]") {
    auto [identity, fault] =
        GENERATE(table<std::string, std::string>({{"", ""},
                                                  {"a", ""},
                                                  {std::string("a\0b", 3), ""},
                                                  {std::string(255, 'i'), ""},
                                                  {std::string(256, 'i'), "Identity longer than 255 bytes"},
                                                  {std::string("\0", 1), "Identity with a leading zero byte"},
                                                  {std::string("\0abcd", 5), "Identity with a leading zero byte"}}));
    const ReadyResult result = parse_ready(wire(type_sub, property("Identity", identity)));
    CHECK(result.fault == fault);
    CHECK(result.properties.has_value() == fault.empty());
}

TEST_CASE("READY with a wrong property is refused with its name", "[core][zmtp]") {
    const auto [data, fault] = GENERATE(table<Buffer, std::string>(
        {{wire(), "READY without Socket-Type"},
         {property("Identity", "me"), "READY without Socket-Type"},
         {property("Socket-Type", ""), "unknown Socket-Type"},
         {property("Socket-Type", "sub"), "unknown Socket-Type"},
         {wire(property("Socket-Type", "SUB"), property("socket-type", "SUB")), "READY with duplicate Socket-Type"},
         {wire(property("Identity", ""), property("IDENTITY", "")), "READY with duplicate Identity"},
         {wire(property("Socket-Type", "SUB"), 0), "READY with an empty property name"},
         {wire(0, 0, 0, 0, 0), "READY with an empty property name"}}));
    CAPTURE(hex(data));
    const ReadyResult result = parse_ready(data);
    CHECK_FALSE(result.properties);
    CHECK(result.fault == fault);
}

TEST_CASE("READY truncated at any byte is refused, except between two properties", "[core][zmtp]") {
    const Buffer data = wire(type_sub, property("Identity", "me"));
    for (std::size_t bytes = 1; bytes < data.size(); ++bytes) {
        CAPTURE(bytes);
        const ReadyResult result = parse_ready(Bytes(data).first(bytes));
        CHECK(result.properties.has_value() == (bytes == type_sub.size()));
        CHECK(result.fault == (bytes == type_sub.size() ? "" : "truncated READY"));
    }
}

TEST_CASE("a property's declared size never reaches past the frame", "[core][zmtp]") {
    const Buffer size = GENERATE(wire(0, 0, 0, 4), wire(0, 0, 1, 0), wire(0x7F, 0xFF, 0xFF, 0xFF), wire(0x80, 0, 0, 0),
                                 wire(0xFF, 0xFF, 0xFF, 0xFF));
    CAPTURE(hex(size));
    CHECK(parse_ready(wire(0x0B, "Socket-Type", size, "SUB")).fault == "truncated READY");
    CHECK(parse_ready(wire(type_sub, 1, "X", size, "abc")).fault == "truncated READY");
}

TEST_CASE("READY can have a limited number of properties", "[core][zmtp]") {
    Buffer data = type_sub;
    for (std::size_t i = 1; i < limits::metadata_properties_max; ++i) {
        append_part(data, property("X", ""));
    }
    CHECK(parse_ready(data).properties);
    append_part(data, property("X", ""));
    CHECK(parse_ready(data).fault == "READY with too many properties");
}

TEST_CASE("PING carries a time to live and up to 16 bytes of context", "[core][zmtp]") {
    const std::string context = GENERATE("", "c", "0123456789abcdef");
    const Buffer data = wire(0x01, 0x02, context);
    const auto ping = parse_ping(data);
    REQUIRE(ping);
    CHECK(ping->ttl_deciseconds == 0x0102);
    CHECK(text(ping->context) == context);
}

TEST_CASE("PING without a whole TTL or with too long a context is refused", "[core][zmtp]") {
    CHECK_FALSE(parse_ping(wire()));
    CHECK_FALSE(parse_ping(wire(0)));
    CHECK_FALSE(parse_ping(wire(0, 0, std::string(17, 'c'))));
    CHECK_FALSE(parse_ping(wire(0, 0, std::string(65536, 'c'))));
}

TEST_CASE("PONG returns the context unchanged", "[core][zmtp]") {
    Buffer out = wire("before");
    append_pong(out, wire("ctx"));
    append_pong(out, {});
    CHECK(hex(out) == hex(wire("before", 0x04, 8, 4, "PONGctx", 0x04, 5, 4, "PONG")));
}

TEST_CASE("subscriptions are read in both forms", "[core][zmtp]") {
    CHECK(kind_and_prefix({frame_flag::command, wire(9, "SUBSCRIBEhost/")}) == "+host/");
    CHECK(kind_and_prefix({frame_flag::command, wire(6, "CANCELhost/")}) == "-host/");
    CHECK(kind_and_prefix({0, wire(1, "host/")}) == "+host/");
    CHECK(kind_and_prefix({0, wire(0, "host/")}) == "-host/");
}

TEST_CASE("a subscription's prefix may be empty, long or binary", "[core][zmtp]") {
    const std::string prefix =
        GENERATE(std::string(), std::string(255, 'p'), std::string(1000, 'p'), std::string("\0\1\xFF", 3));
    CHECK(kind_and_prefix({frame_flag::command, wire(9, "SUBSCRIBE", prefix)}) == "+" + prefix);
    CHECK(kind_and_prefix({0, wire(1, prefix)}) == "+" + prefix);
    CHECK(kind_and_prefix({0, wire(0, prefix)}) == "-" + prefix);
}

TEST_CASE("a part of a longer message subscribes too", "[core][zmtp]") {
    CHECK(kind_and_prefix({frame_flag::more, wire(1, "a")}) == "+a");
}

TEST_CASE("other frames are not subscriptions", "[core][zmtp]") {
    CHECK(kind_and_prefix({0, {}}) == "none");
    CHECK(kind_and_prefix({0, wire(2, "a")}) == "none");
    CHECK(kind_and_prefix({0, wire("hello")}) == "none");
    const Buffer body = GENERATE(wire(), wire(0), wire(1, "a"), wire(9, "SUBSCRIB"), wire(9, "subscribea"),
                                 wire(8, "SUBSCRIBE"), wire(4, "PING", 0, 0));
    CAPTURE(hex(body));
    CHECK(kind_and_prefix({frame_flag::command, body}) == "none");
}

TEST_CASE("PING is written with a time to live that libzmq does not miscount", "[core][zmtp]") {
    Buffer out;
    append_ping(out, 300, as_bytes("ctx"));
    CHECK(hex(out) == hex(wire(0x04, 10, 4, "PING", 0x01, 0x2C, "ctx")));
    const auto [asked, sent] = GENERATE(table<int, int>({{0, 0}, {655, 655}, {656, 655}, {65535, 655}}));
    CAPTURE(asked);
    out.clear();
    append_ping(out, static_cast<std::uint16_t>(asked), {});
    CHECK(hex(out) == hex(wire(0x04, 7, 4, "PING", sent / 256, sent % 256)));
}

TEST_CASE("a subscription is written in the form that the peer knows", "[core][zmtp]") {
    Buffer out;
    append_subscription(out, 1, {Kind::subscribe, as_bytes("A")});
    append_subscription(out, 1, {Kind::cancel, as_bytes("A")});
    CHECK(hex(out) == hex(wire(0x04, 11, 9, "SUBSCRIBEA", 0x04, 8, 6, "CANCELA")));
    out.clear();
    append_subscription(out, 0, {Kind::subscribe, as_bytes("A")});
    append_subscription(out, 0, {Kind::cancel, as_bytes("A")});
    CHECK(hex(out) == hex(wire(0x00, 2, 1, "A", 0x00, 2, 0, "A")));
}

TEST_CASE("a prefix of any length keeps the stream in sync, in both forms", "[core][zmtp]") {
    // libzmq 4.3.5 writes a wrong header for 255 bytes in the form of ZMTP 3.0.
    const int minor = GENERATE(0, 1);
    for (const std::size_t bytes : {0U, 245U, 246U, 248U, 249U, 254U, 255U, 256U, 1024U}) {
        CAPTURE(minor, bytes);
        const Buffer prefix(bytes, std::byte{'p'});
        Buffer out;
        append_subscription(out, static_cast<std::uint8_t>(minor), {Kind::subscribe, prefix});
        append_subscription(out, static_cast<std::uint8_t>(minor), {Kind::cancel, prefix});
        FrameDecoder decoder(2048);
        Bytes input(out);
        REQUIRE(decoder.feed(input) == FeedStatus::frame_ready);
        CHECK(kind_and_prefix(decoder.frame()) == "+" + text(prefix));
        REQUIRE(decoder.feed(input) == FeedStatus::frame_ready);
        CHECK(kind_and_prefix(decoder.frame()) == "-" + text(prefix));
        CHECK(input.empty());
    }
}
