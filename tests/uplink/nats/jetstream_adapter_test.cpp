#include "nats/jetstream_adapter.hpp"

#include "core/reactor.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "uplink/nats/played_nats_server.hpp"
#include "uplink/reactor_loop.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {
namespace {

/// An adapter and its server.
struct Connection {
    PlayedNatsServer server;
    Reactor reactor;
    ReactorLoop loop{reactor};
    std::vector<std::string> events;
    std::optional<Place> last;  // of the last event that has one
    std::uint64_t stream = 0;   // of the last connection
    std::vector<std::string> warnings;
    AdapterOptions options;
    std::optional<JetStreamAdapter> adapter;

    explicit Connection(PlayedNatsServer::Options played = {}) : server(std::move(played)) {
        options.urls = {server.url()};
        options.subjects = "samples";
        options.client_name = "test";
        options.headers = {{"Telegate-Gateway", "gw"}};
        options.message_bytes_max = 500;
        options.resend_max = std::chrono::seconds(60);
        options.secrets = [] {
            return AdapterSecrets{};
        };
        options.warn = [this](const std::string& text) {
            warnings.push_back(text);
        };
    }

    void connect() {
        if (!adapter) {
            Adapter::Events into;
            into.up = [this](const BackEnd& back_end) {
                last = back_end.last;
                stream = back_end.stream;
                events.emplace_back("up");
            };
            into.acknowledged = [this](std::uint64_t number, bool is_duplicate, Place place) {
                last = place;
                events.push_back("acknowledged " + std::to_string(number) + (is_duplicate ? " again" : ""));
            };
            into.checked = [this](Place place) {
                events.push_back("checked " + std::to_string(place));
            };
            into.refused = [this](std::uint64_t number, Refusal refusal, const std::string& reason,
                                  std::chrono::milliseconds /*retry_after*/) {
                events.push_back("refused " + std::to_string(number) + " " + reason +
                                 (refusal == Refusal::permanent   ? ", permanently"
                                  : refusal == Refusal::too_large ? ", too large"
                                                                  : ""));
            };
            into.down = [this](const std::string& reason, bool is_refused) {
                events.push_back((is_refused ? "refused connection " : "down ") + reason);
            };
            adapter.emplace(loop, options, into);
        }
        adapter->connect();
    }
    void connect_and_expect_up() {
        connect();
        REQUIRE(event() == "up");
    }

    /// Runs the adapter until the condition holds.
    template <class Condition>
    [[nodiscard]] bool until(Condition condition) {
        return test::eventually([&] {
            reactor.poll();
            return condition();
        });
    }
    /// Returns the next event without the address of the server.
    std::string event() {
        CHECK(until([this] { return !events.empty(); }));
        std::string first = events.empty() ? "" : events.front();
        events.clear();
        const std::string address = options.urls.back() + ": ";
        const std::size_t at = first.find(address);
        return at == std::string::npos ? first : first.erase(at, address.size());
    }
    [[nodiscard]] bool receives(const std::string& text) {
        return until([&] { return server.received().find(text) != std::string::npos; });
    }
};

OutgoingMessage text_message(const std::string& payload) {
    OutgoingMessage message;
    message.id = "log.1.0.abc";
    message.subject = "samples";
    message.format = "json";
    message.payload = payload;
    return message;
}

}  // namespace

TEST_CASE("a message is published with its id, and its response is passed on", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    f.adapter->send(text_message("hello\n"), 7);
    CHECK(f.receives("hello\n\r\n"));
    CHECK(f.receives("HPUB samples " + f.server.inbox() + "7 "));
    CHECK(f.receives("\r\nNats-Msg-Id: log.1.0.abc\r\n"));
    CHECK(f.receives("\r\nTelegate-Format: json\r\n"));
    CHECK(f.receives("\r\nTelegate-Gateway: gw\r\n"));
    CHECK(f.server.received().find("Telegate-Historical") == std::string::npos);
    OutgoingMessage historical = text_message("old\n");
    historical.is_historical = true;
    f.adapter->send(historical, 8);
    CHECK(f.receives("\r\nTelegate-Historical: yes\r\n"));
    f.server.respond("7", R"({"stream":"S","seq":1})");
    CHECK(f.event() == "acknowledged 7");
    f.server.respond("8", R"({"stream":"S","seq":1,"duplicate":true})");
    CHECK(f.event() == "acknowledged 8 again");
    f.server.respond("9", R"({"error":{"code":503,"description":"full"}})");
    CHECK(f.event() == "refused 9 full");
}

TEST_CASE("the places of messages are those in the stream that was checked", "[uplink][jetstream]") {
    PlayedNatsServer::Options played;
    played.info = R"({"config":{"name":"S","duplicate_window":120000000000},"state":{"messages":2,"last_seq":41}})";
    Connection f(played);
    f.connect_and_expect_up();
    CHECK(f.last == 41);
    f.adapter->check();
    CHECK(f.event() == "checked 41");
    f.server.respond("7", R"({"stream":"S","seq":42})");
    CHECK(f.event() == "acknowledged 7");
    CHECK(f.last == 42);
}

TEST_CASE("an acknowledgment of another stream ends the connection", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    f.server.respond("8", R"({"stream":"OTHER","seq":1})");
    CHECK(f.event() == "down stream OTHER has stored a message for stream S");
}

TEST_CASE("streams that share a subject with wildcards may all acknowledge", "[uplink][jetstream]") {
    PlayedNatsServer::Options played;
    played.names = R"({"total":2,"streams":["S","OTHER"]})";
    Connection f(played);
    f.connect_and_expect_up();
    f.server.respond("8", R"({"stream":"OTHER","seq":1})");
    CHECK(f.event() == "acknowledged 8");
    CHECK(f.last == 0);
}

TEST_CASE("a stream that was created again has another identity", "[uplink][jetstream]") {
    const auto info = [](const std::string& created) {
        return R"({"config":{"name":"S","duplicate_window":120000000000},"created":")" + created + R"("})";
    };
    PlayedNatsServer::Options played;
    played.info = info("a");
    Connection f(played);
    f.connect_and_expect_up();
    const std::uint64_t before = f.stream;
    CHECK(before != 0);
    f.server.end_connection();
    CHECK(f.event() == "down the server closed the connection");
    f.connect_and_expect_up();
    CHECK(f.stream == before);
    f.server.respond("info", info("b"));
    CHECK(f.event() == "down stream S was replaced by another one");
}

TEST_CASE("a stream that is gone, or has other limits, is noticed by the next check", "[uplink][jetstream]") {
    const auto [info, reason] = GENERATE(Catch::Generators::table<std::string, std::string>(
        {{R"({"error":{"code":404,"description":"stream not found"}})", "down stream not found"},
         {R"({"config":{"name":"S","duplicate_window":1000000000}})",
          "down the duplicate window of stream S is 1 s"}}));
    Connection f;
    f.connect_and_expect_up();
    f.server.respond("info", R"({"config":{"name":"S","duplicate_window":120000000000},"state":{"last_seq":7}})");
    CHECK(f.event() == "checked 7");
    f.server.respond("info", info);
    const std::string event = f.event();
    CAPTURE(event);
    CHECK(event.starts_with(reason));
}

TEST_CASE("a stream that accepts smaller messages than at the connection stays in use with a warning",
          "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    for (int i = 0; i < 2; ++i) {
        f.server.respond("info", R"({"config":{"name":"S","duplicate_window":120000000000,"max_msg_size":5}})");
        CHECK(f.event() == "checked 0");
    }
    REQUIRE(f.warnings.size() == 1);
    CHECK(f.warnings[0].find("stream S accepts messages of 5 bytes") != std::string::npos);
}

TEST_CASE("a message that nobody stores ends the connection", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    f.server.send("HMSG " + f.server.inbox() + "4 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n");
    CHECK(f.event() == "down no stream has this subject, or JetStream is unavailable");
}

TEST_CASE("a message that the server would not accept is refused without sending it", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    f.adapter->send(text_message(std::string(1'000, 'x')), 1);
    CHECK(f.events.empty());
    CHECK(f.event() ==
          "refused 1 message is larger than the server's max_payload of 1000 bytes; lower batch_bytes, too large");
}

TEST_CASE("a ping of the server is answered", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    f.server.send("PING\r\n");
    CHECK(f.receives("PONG\r\n"));
}

TEST_CASE("a connection that cannot be used ends with a reason", "[uplink][jetstream]") {
    PlayedNatsServer::Options played;
    std::string reason;
    SECTION("the server is not a NATS server") {
        played.greeting = "HTTP/1.1 400 Bad Request\r\n";
        reason = "down cannot connect: Unexpected protocol";
    }
    SECTION("the server is too old") {
        played.greeting = "INFO {\"version\":\"1.0.0\"}\r\n";
        reason = "down the server does not support headers: NATS 2.2 or later is required";
    }
    SECTION("the credentials are wrong") {
        played.connected = "-ERR 'Authorization Violation'\r\n";
        reason = "down cannot connect: Authorization Violation";
    }
    SECTION("there is no stream") {
        played.names = R"({"total":0,"streams":null})";
        reason = "down no stream has the subject samples; create one: nats stream add TELEGATE --subjects 'samples'";
    }
    SECTION("the stream is not suitable") {
        played.info = R"({"config":{"name":"S","duplicate_window":1000000000}})";
        reason = "down the duplicate window of stream S is 1 s";
    }
    Connection f(played);
    f.connect();
    const std::string event = f.event();
    CAPTURE(event);
    CHECK(event.starts_with(reason));
}

TEST_CASE("a stream that may not be inspected is used with a warning", "[uplink][jetstream]") {
    PlayedNatsServer::Options played;
    played.names = "";
    Connection f(played);
    f.connect();
    CHECK(f.receives("PUB $JS.API.STREAM.NAMES"));
    SECTION("the user has no permission") {
        f.server.send("-ERR 'Permissions Violation for Publish to \"$JS.API.STREAM.NAMES\"'\r\n");
    }
    SECTION("the server does not forward the request") {
        f.server.send("HMSG " + f.server.inbox() + "name 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n");
    }
    CHECK(f.event() == "up");
    REQUIRE(f.warnings.size() == 1);
    CHECK(f.warnings[0].find("cannot check the stream") != std::string::npos);
    CHECK_FALSE(f.last);
    f.adapter->check();  // has no effect
    f.server.respond("7", R"({"stream":"S","seq":1})");
    CHECK(f.event() == "acknowledged 7");
}

TEST_CASE("an error of the server ends the connection with its text", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    const auto [error, reason] = GENERATE(Catch::Generators::table<std::string, std::string>(
        {{"Permissions Violation for Publish to \"samples\"", "down Permissions Violation for Publish to \"samples\""},
         {"Maximum Payload Violation", "down Maximum Payload Violation"}}));
    f.server.send("-ERR '" + error + "'\r\n");
    CHECK(f.event() == reason);
}

TEST_CASE("credentials that cannot be read end the connection", "[uplink][jetstream]") {
    Connection f;
    f.options.secrets = []() -> AdapterSecrets {
        throw std::runtime_error("no such file");
    };
    f.connect();
    CHECK(f.event() == "down no such file");
}

TEST_CASE("after the end of a connection, the next one uses another subject for responses", "[uplink][jetstream]") {
    Connection f;
    f.connect_and_expect_up();
    const std::string before = f.server.inbox();
    f.server.end_connection();
    CHECK(f.event() == "down the server closed the connection");
    f.connect_and_expect_up();
    CHECK(f.server.inbox() != before);
}

TEST_CASE("no event follows the closing of an adapter, even with messages that are not written",
          "[uplink][jetstream]") {
    CHECK(test::eventually([] {  // a busy machine may delay an attempt
        Connection f;
        f.connect_and_expect_up();
        f.adapter->send(text_message("never written"), 1);
        f.adapter->send(text_message(std::string(1'000, 'x')), 2);
        const auto before = std::chrono::steady_clock::now();
        f.adapter->close();
        const auto elapsed = std::chrono::steady_clock::now() - before;
        f.reactor.poll();
        CHECK(f.events.empty());
        f.connect_and_expect_up();
        CHECK(f.server.connections() == 2);
        return elapsed < std::chrono::milliseconds(400);
    }));
}

TEST_CASE("a server that refuses connections is reported, and the next one is used", "[uplink][jetstream]") {
    Connection f;
    f.options.urls = {"nats://127.0.0.1:1", f.server.url()};
    f.connect();
    CHECK(f.events.empty());
    const std::string event = f.event();
    CHECK(event.starts_with("refused connection "));
    CHECK(event.ends_with("cannot connect: the host is unknown, or no server responds at this address"));
    f.connect_and_expect_up();
}

TEST_CASE("a host name is looked up without blocking the loop, and a lookup can be abandoned", "[uplink][jetstream]") {
    Connection f;
    f.options.urls = {"nats://localhost:" + f.server.url().substr(f.server.url().rfind(':') + 1)};
    f.connect_and_expect_up();
    f.adapter->close();
    f.options.urls = {"nats://a-name-that-does-not-exist.invalid"};
    f.adapter.reset();
    f.connect();
    f.reactor.poll();
    f.adapter->close();
    f.connect();
    CHECK(f.event().ends_with("cannot connect: the host is unknown, or no server responds at this address"));
}

TEST_CASE("a server that falls silent at any stage blocks neither the loop nor the end of the connection",
          "[uplink][jetstream]") {
    const std::string with_tls = R"(INFO {"version":"2.9.10","headers":true,"max_payload":1000,"tls_required":true})";
    const auto [greeting, connected, names, awaited] =
        GENERATE_COPY(Catch::Generators::table<std::string, std::string, std::string, std::string>(
            {{"", "", "", "the greeting of the server"},
             {"INFO {\"version\":", "", "", "the greeting of the server"},
             {with_tls + "\r\n", "", "", "the TLS handshake of the server"},
             {PlayedNatsServer::Options().greeting, "", "", "a response to the credentials"},
             {PlayedNatsServer::Options().greeting, "PONG", "", "a response to the credentials"},
             {PlayedNatsServer::Options().greeting, "PONG\r\n", "", "the properties of the stream"}}));
    PlayedNatsServer::Options played;
    played.greeting = greeting;
    played.connected = connected;
    played.names = names;
    Connection f(played);
    f.connect();
    const std::string stage = awaited;
    CAPTURE(stage);
    CHECK(f.until([&] { return f.adapter->waits_for() == stage; }));
    if (stage == "the TLS handshake of the server") {
        CHECK(f.receives("\x16\x03"));                  // the client's part of the handshake
        f.server.send(std::string("\x16\x03\x03", 3));  // the beginning of a record
    }
    f.adapter->close();
    f.reactor.poll();
    CHECK(f.events.empty());
}

TEST_CASE("a server that sends what cannot be kept is disconnected with the reason", "[uplink][jetstream]") {
    const auto [sent, reason] = GENERATE(Catch::Generators::table<std::string, std::string>(
        {{"MSG _INBOX.x 1 1900000000\r\nxxx",
          "down the server sent a message of 1900000000 bytes, and at most 262144 "
          "are read"},
         {"HMSG _INBOX.x 1 12 1900000000\r\nxxx",
          "down the server sent a message of 1900000000 bytes, and at most "
          "262144 are read"},
         {std::string(70'000, 'x'), "down the server sent a line of more than 65536 bytes"},
         {"MSG _INBOX.x 1 99999999999999999999\r\n", "down Unexpected protocol"},
         {"HELLO\r\n", "down Unexpected protocol"}}));
    Connection f;
    f.connect_and_expect_up();
    f.server.send(sent);
    CHECK(f.event() == reason);
}

TEST_CASE("a server that sends pings and does not read the responses is disconnected", "[uplink][jetstream]") {
    PlayedNatsServer::Options played;
    played.greeting = "INFO {\"version\":\"2.9.10\",\"headers\":true,\"max_payload\":100000000}\r\n";
    Connection f(played);
    f.connect_and_expect_up();
    f.server.stop_reading();
    f.adapter->send(text_message(std::string(32'000'000, 'x')), 1);  // more than the kernel buffers
    std::string pings;
    while (pings.size() <= 2 * Link::response_bytes_max) {
        pings += "PING\r\n";
    }
    f.server.send(pings);
    CHECK(f.event() == "down the server does not read the responses to its pings");
}

TEST_CASE("a server that repeats errors is disconnected", "[uplink][jetstream]") {
    PlayedNatsServer::Options played;
    played.names = "";
    Connection f(played);
    f.connect();
    CHECK(f.receives("PUB $JS.API.STREAM.NAMES"));
    for (std::size_t i = 0; i <= JetStreamAdapter::errors_max; ++i) {
        f.server.send("-ERR 'Permissions Violation for Publish to \"$JS.API.STREAM.NAMES\"'\r\n");
    }
    CHECK(f.until([&] { return f.events.size() == 2; }));
    CHECK(f.events.back().find("the server repeats errors: Permissions Violation") != std::string::npos);
}

TEST_CASE("credentials are not sent without TLS to a server that does not offer it", "[uplink][jetstream]") {
    Connection f;
    f.options.secrets = [] {
        return AdapterSecrets{.credentials = {"/file", "user hush"}, .tls_ca = {"/ca.pem"}};
    };
    f.connect();
    CHECK(f.event() == "down cannot connect: the server does not offer TLS");
    CHECK(f.server.received().find("hush") == std::string::npos);
}

}  // namespace telegate::uplink
