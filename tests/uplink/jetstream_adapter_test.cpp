#include "uplink/jetstream_adapter.hpp"

#include "core/reactor.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_listener.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {
namespace {

using test::eventually;

constexpr const char* info_line =
    "INFO {\"server_id\":\"N\",\"version\":\"2.9.10\",\"headers\":true,\"max_payload\":1000,\"jetstream\":true}\r\n";

/// An adapter and a server that the test plays.
struct PlayedServer {
    Reactor reactor;
    test::RawListener listener;
    std::vector<std::string> events;
    JetStreamAdapter::Options options{{{"127.0.0.1", std::to_string(listener.endpoint().port)}}, "samples", "test", [] {
                                          return NatsCredentials{};
                                      }};
    std::optional<JetStreamAdapter> adapter;
    std::optional<test::RawPeer> server;

    void connect() {
        if (!adapter) {
            Adapter::Events into;
            into.up = [this](const std::string&) {
                events.emplace_back("up");
            };
            into.acknowledged = [this](std::uint64_t number, bool is_duplicate) {
                events.push_back("acknowledged " + std::to_string(number) + (is_duplicate ? " again" : ""));
            };
            into.refused = [this](std::uint64_t number, Refusal refusal, const std::string& reason) {
                events.push_back("refused " + std::to_string(number) + " " + reason +
                                 (refusal == Refusal::permanent ? ", permanently" : ""));
            };
            into.down = [this](const std::string& reason) {
                events.push_back("down " + reason);
            };
            adapter.emplace(reactor, options, into);
        }
        adapter->connect();
        server.reset();
        CHECK(until([this] {
            if (auto accepted = listener.accept()) {
                server.emplace(std::move(*accepted));
            }
            return server.has_value();
        }));
    }

    /// Runs the adapter until the condition holds.
    template <class Condition>
    [[nodiscard]] bool until(Condition condition) {
        return eventually([&] {
            reactor.poll();
            return condition();
        });
    }

    /// Returns the next event without the address of the server.
    std::string event() {
        CHECK(until([this] { return !events.empty(); }));
        std::string first = events.empty() ? "" : events.front();
        events.clear();
        const std::string address = "127.0.0.1:" + options.servers.front().port + ": ";
        const std::size_t at = first.find(address);
        return at == std::string::npos ? first : first.erase(at, address.size());
    }

    void greet() {
        connect();
        server->send(info_line);
        CHECK(until([this] { return server->read().ends_with("PING\r\n"); }));
        server->send("PONG\r\n");
        CHECK(event() == "up");
    }

    /// Returns the subject for the response to a message.
    [[nodiscard]] std::string reply_subject(std::uint64_t number) {
        const std::string& received = server->received();
        const std::size_t inbox = received.find("SUB ") + 4;
        return received.substr(inbox, received.find('*', inbox) - inbox) + std::to_string(number);
    }

    void respond(std::uint64_t number, const std::string& payload) {
        server->send("MSG " + reply_subject(number) + " 1 " + std::to_string(payload.size()) + "\r\n" + payload +
                     "\r\n");
    }
};

OutgoingMessage text_message(const std::string& payload) {
    OutgoingMessage message;
    message.id = "log.1.0.abc";
    message.payload = payload;
    return message;
}

}  // namespace

TEST_CASE("urls of NATS servers have a host and an optional port", "[uplink][jetstream]") {
    CHECK(parse_nats_url("nats://example.com")->port == "4222");
    CHECK(parse_nats_url("nats://example.com:4333")->host == "example.com");
    CHECK(parse_nats_url("nats://[::1]:4333")->host == "::1");
    const auto* const text = GENERATE("", "nats://", "nats://:4222", "http://a", "nats://a:", "nats://a:0",
                                      "nats://a:65536", "nats://a:1x", "nats://u:p@a", "nats://[::1", "nats://a/b");
    CAPTURE(text);
    CHECK_FALSE(parse_nats_url(text));
}

TEST_CASE("a message is published with its id, and its response is passed on", "[uplink][jetstream]") {
    PlayedServer f;
    f.greet();
    f.adapter->send(text_message("hello\n"), 7);
    CHECK(f.until([&] { return f.server->read().ends_with("\r\n\r\nhello\n\r\n"); }));
    CHECK(f.server->received().find("HPUB samples " + f.reply_subject(7)) != std::string::npos);
    CHECK(f.server->received().find("\r\nNats-Msg-Id: log.1.0.abc\r\n") != std::string::npos);
    f.respond(7, "{\"stream\":\"S\",\"seq\":1}");
    CHECK(f.event() == "acknowledged 7");
    f.respond(8, "{\"stream\":\"S\",\"seq\":1,\"duplicate\":true}");
    CHECK(f.event() == "acknowledged 8 again");
    f.respond(9, "{\"error\":{\"code\":503,\"description\":\"full\"}}");
    CHECK(f.event() == "refused 9 full");
}

TEST_CASE("a message that the server would not accept is refused without sending it", "[uplink][jetstream]") {
    PlayedServer f;
    f.greet();
    f.adapter->send(text_message(std::string(1'000, 'x')), 1);
    CHECK(f.events.empty());
    const std::string event = f.event();
    CHECK(event.starts_with("refused 1 message is larger than the server's max_payload of 1000 bytes"));
    CHECK(event.ends_with(", permanently"));
}

TEST_CASE("a ping of the server is answered", "[uplink][jetstream]") {
    PlayedServer f;
    f.greet();
    f.server->send("PING\r\n");
    CHECK(f.until([&] { return f.server->read().ends_with("PONG\r\n"); }));
}

TEST_CASE("a connection that cannot be used ends with a reason", "[uplink][jetstream]") {
    const auto [greeting, reason] = GENERATE(Catch::Generators::table<std::string, std::string>(
        {{"HTTP/1.1 400 Bad Request\r\n", "down the server does not speak the NATS protocol"},
         {"INFO {\"headers\":true,\"tls_required\":true}\r\n",
          "down the server requires TLS, which this uplink does not support"},
         {"INFO {\"version\":\"1.0\"}\r\n", "down the server does not support headers: NATS 2.2 or later is required"},
         {std::string(info_line) + "-ERR 'Authorization Violation'\r\n", "down Authorization Violation"}}));
    PlayedServer f;
    f.connect();
    f.server->send(greeting);
    CHECK(f.event() == reason);
}

TEST_CASE("credentials that cannot be read end the connection", "[uplink][jetstream]") {
    PlayedServer f;
    f.options.credentials = []() -> NatsCredentials {
        throw std::runtime_error("no such file");
    };
    f.connect();
    f.server->send(info_line);
    CHECK(f.event() == "down no such file");
}

TEST_CASE("after the end of a connection, the next one uses another subject for responses", "[uplink][jetstream]") {
    PlayedServer f;
    f.greet();
    const std::string before = f.reply_subject(1);
    f.server.reset();
    CHECK(f.event() == "down the server closed the connection");
    f.greet();
    CHECK(f.reply_subject(1) != before);
}

TEST_CASE("no event follows the closing of an adapter", "[uplink][jetstream]") {
    PlayedServer f;
    f.greet();
    f.adapter->send(text_message(std::string(1'000, 'x')), 1);
    f.adapter->close();
    CHECK(f.until([&] {
        (void)f.server->read();
        return f.server->at_end();
    }));
    CHECK(f.events.empty());
}

TEST_CASE("a server that refuses connections is reported", "[uplink][jetstream]") {
    PlayedServer f;
    f.options.servers = {{"127.0.0.1", "1"}};
    f.adapter.emplace(f.reactor, f.options, Adapter::Events{{}, {}, {}, [&](const std::string& reason) {
                                                                f.events.push_back("down " + reason);
                                                            }});
    f.adapter->connect();
    CHECK(f.events.empty());
    CHECK(f.event() == "down cannot connect: Connection refused");
}

}  // namespace telegate::uplink
