#include "uplink/nats_codec.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace telegate::uplink {
namespace {

/// An operation with its own memory.
struct Operation {
    NatsKind kind{};
    std::string text;
    std::string subject;
    std::string headers;
    std::string payload;

    bool operator==(const Operation&) const = default;
};

struct Decoded {
    std::vector<Operation> operations;
    bool is_violation = false;

    bool operator==(const Decoded&) const = default;
};

/// Decodes `input` in pieces of `piece` bytes.
Decoded decode(std::string_view input, std::size_t piece) {
    NatsDecoder decoder;
    Decoded decoded;
    while (!input.empty() && !decoded.is_violation) {
        const std::string_view part = input.substr(0, piece);
        input.remove_prefix(part.size());
        decoder.feed(as_bytes(part));
        NatsFrame frame;
        NatsStatus status = decoder.next(frame);
        for (; status == NatsStatus::frame_ready; status = decoder.next(frame)) {
            decoded.operations.push_back({frame.kind, std::string(frame.text), std::string(frame.subject),
                                          std::string(frame.headers), std::string(frame.payload)});
        }
        decoded.is_violation = status == NatsStatus::violation;
    }
    return decoded;
}

/// Decodes at once and byte by byte, and requires the same result.
Decoded decode(std::string_view input) {
    Decoded decoded = decode(input, input.size());
    CHECK(decode(input, 1) == decoded);
    CHECK(decode(input, 3) == decoded);
    return decoded;
}

Operation only(const Decoded& decoded) {
    CHECK_FALSE(decoded.is_violation);
    REQUIRE(decoded.operations.size() == 1);
    return decoded.operations.front();
}

}  // namespace

TEST_CASE("operations without content are decoded", "[uplink][nats]") {
    CHECK(only(decode("PING\r\n")).kind == NatsKind::ping);
    CHECK(only(decode("ping\r\n")).kind == NatsKind::ping);
    CHECK(only(decode("PONG\r\n")).kind == NatsKind::pong);
    CHECK(only(decode("+OK\r\n")).kind == NatsKind::ok);
    CHECK(only(decode("-ERR 'Authorization Violation'\r\n")).text == "Authorization Violation");
    CHECK(only(decode("INFO {\"a\": 1}\r\n")).text == "{\"a\": 1}");
}

TEST_CASE("messages are decoded with and without headers and reply subject", "[uplink][nats]") {
    const Operation plain = only(decode("MSG _INBOX.1.7 1 5\r\nhello\r\n"));
    CHECK(plain.kind == NatsKind::message);
    CHECK(plain.subject == "_INBOX.1.7");
    CHECK(plain.headers.empty());
    CHECK(plain.payload == "hello");
    CHECK(only(decode("MSG a 1 reply 2\r\n\r\n\r\n")).payload == "\r\n");
    const Operation with = only(decode("HMSG a  1\treply 28 30\r\nNATS/1.0 503\r\nA: 0123456\r\n\r\nhi\r\n"));
    CHECK(with.headers == "NATS/1.0 503\r\nA: 0123456\r\n\r\n");
    CHECK(with.payload == "hi");
    CHECK(only(decode("HMSG a 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n")).payload.empty());
}

TEST_CASE("several operations in one piece are decoded in order", "[uplink][nats]") {
    const Decoded decoded = decode("PING\r\nMSG a 1 0\r\n\r\n+OK\r\nPING\r\nMS");
    REQUIRE(decoded.operations.size() == 4);
    CHECK(decoded.operations[1].kind == NatsKind::message);
    CHECK_FALSE(decoded.is_violation);
}

TEST_CASE("anything that is not an operation is a violation", "[uplink][nats]") {
    const auto* const text = GENERATE("HTTP/1.1 400 Bad Request\r\n", "\r\n", "PINGS\r\n", "MSG\r\n", "MSG a 1\r\n",
                                      "MSG a 1 x\r\n", "MSG a 1 -1\r\n", "MSG a 1 r 2 3\r\n", "MSG a 1 1\r\nxyz",
                                      "HMSG a 1 3\r\n", "HMSG a 1 5 4\r\nabcd\r\n", "MSG a 1 1048577\r\n",
                                      "MSG a 1 99999999999999999999999\r\n", "MSG a b c d e f\r\n");
    CAPTURE(text);
    CHECK(decode(text).is_violation);
}

TEST_CASE("a line without an end is a violation when it is too long", "[uplink][nats]") {
    CHECK_FALSE(decode("INFO " + std::string(NatsDecoder::line_bytes_max - 5, 'x'), 1'000).is_violation);
    CHECK(decode("INFO " + std::string(NatsDecoder::line_bytes_max, 'x'), 1'000).is_violation);
}

TEST_CASE("a message is published with its headers and its reply subject", "[uplink][nats]") {
    std::string out;
    append_publish({"samples", "_INBOX.1.2", "Nats-Msg-Id: 7\r\n", "abc"}, out);
    CHECK(out == "HPUB samples _INBOX.1.2 28 31\r\nNATS/1.0\r\nNats-Msg-Id: 7\r\n\r\nabc\r\n");
}

TEST_CASE("a client connects with escaped credentials", "[uplink][nats]") {
    std::string out;
    append_connect({.user = "a\"b", .password = "c\\d\n", .token = ""}, "telegate", out);
    CHECK(out.starts_with("CONNECT {\"verbose\":false,"));
    CHECK(out.ends_with("\"name\":\"telegate\",\"user\":\"a\\\"b\",\"pass\":\"c\\\\d\\u000a\"}\r\n"));
    out.clear();
    append_connect({.user = "", .password = "", .token = "secret"}, "", out);
    CHECK(out.ends_with("\"name\":\"\",\"auth_token\":\"secret\"}\r\n"));
}

TEST_CASE("a client subscribes to its responses", "[uplink][nats]") {
    std::string out;
    append_subscribe("_INBOX.1.*", "1", out);
    CHECK(out == "SUB _INBOX.1.* 1\r\n");
}

TEST_CASE("the server's information is read", "[uplink][nats]") {
    const NatsServerInfo info = read_server_info(
        R"({"server_id":"N","server_name":"\"jetstream\":true","version":"2.9.10","headers":true,"max_payload":1048576,)"
        R"("auth_required": true,"client_id":5})");
    CHECK(info.version == "2.9.10");
    CHECK(info.payload_bytes_max == 1'048'576);
    CHECK(info.has_headers);
    CHECK(info.needs_credentials);
    CHECK_FALSE(info.needs_tls);
    CHECK_FALSE(info.has_jetstream);
}

TEST_CASE("the response to a published message says whether it is stored", "[uplink][nats]") {
    const auto response = [](std::string_view headers, std::string_view payload) {
        return read_publish_response({NatsKind::message, {}, "_INBOX.1.1", headers, payload});
    };
    CHECK(response("", R"({"stream":"S","seq":5})").is_stored);
    CHECK_FALSE(response("", R"({"stream":"S","seq":5})").is_duplicate);
    CHECK(response("", R"({"stream":"S", "seq":5,"duplicate": true})").is_duplicate);
    const PublishResponse full =
        response("", R"({"error":{"code":503,"err_code":10077,"description":"maximum \"bytes\" exceeded"},"seq":0})");
    CHECK_FALSE(full.is_stored);
    CHECK(full.reason == "maximum \"bytes\" exceeded");
    CHECK_FALSE(full.is_permanent);
    CHECK(response("", R"({"error":{"code":400,"err_code":10054,"description":"too large"}})").is_permanent);
    CHECK(response("NATS/1.0 503\r\n\r\n", "").reason == "no stream has this subject, or JetStream is unavailable");
    CHECK(response("NATS/1.0 408 Request Timeout\r\n\r\n", "").reason == "408 Request Timeout");
    CHECK_FALSE(response("", "").is_stored);
    CHECK_FALSE(response("", "garbage").reason.empty());
    CHECK_FALSE(response("", R"({"stream":"\"seq\":5"})").is_stored);
}

TEST_CASE("subjects to publish to have no wildcards, blanks or empty words", "[uplink][nats]") {
    const auto [text, valid] = GENERATE(Catch::Generators::table<std::string, bool>({{"samples", true},
                                                                                     {"telegate.samples.a-1", true},
                                                                                     {"", false},
                                                                                     {".a", false},
                                                                                     {"a.", false},
                                                                                     {"a..b", false},
                                                                                     {"a.*", false},
                                                                                     {"a.>", false},
                                                                                     {"a b", false},
                                                                                     {"a\r\n", false}}));
    CAPTURE(text);
    CHECK(is_nats_subject(text) == valid);
}

}  // namespace telegate::uplink
