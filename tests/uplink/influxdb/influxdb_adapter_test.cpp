#include "influxdb/influxdb_adapter.hpp"

#include "core/reactor.hpp"
#include "influxdb/write_request.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_listener.hpp"
#include "uplink/reactor_loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::uplink {
namespace {

using Events = std::vector<std::string>;

/// An adapter and a server that the test plays.
struct DatabaseConnection {
    std::optional<test::RawListener> listener{std::in_place};
    const std::uint16_t port = listener->endpoint().port;
    std::optional<test::RawPeer> peer;  // the newest connection
    int connections = 0;
    Reactor reactor;
    ReactorLoop loop{reactor};
    InfluxdbOptions influxdb;
    Events events;
    Events warnings;
    std::uint64_t stream = 0;
    AdapterSecrets secrets;
    std::optional<InfluxdbAdapter> adapter;

    DatabaseConnection() {
        influxdb.database = "plant 1";
        influxdb.compression = InfluxdbOptions::Compression::none;
    }

    [[nodiscard]] std::string server_url() const { return server.empty() ? url() : server; }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port); }

    void connect() {
        if (!adapter) {
            Adapter::Events into;
            into.up = [this](const BackEnd& back_end) {
                stream = back_end.stream;
                events.emplace_back("up");
            };
            into.acknowledged = [this](std::uint64_t number, bool /*is_duplicate*/, Place /*place*/) {
                events.push_back("stored " + std::to_string(number));
            };
            into.refused = [this](std::uint64_t number, Refusal refusal, const std::string& reason,
                                  std::chrono::milliseconds retry_after) {
                const std::string kind = refusal == Refusal::transient   ? "later "
                                         : refusal == Refusal::permanent ? "refused "
                                                                         : "too large ";
                events.push_back(kind + std::to_string(number) + ' ' +
                                 (reason.starts_with(server_url()) ? reason.substr(server_url().size() + 2) : reason) +
                                 (retry_after.count() > 0 ? " after " + std::to_string(retry_after.count()) : ""));
            };
            into.down = [this](const std::string& reason, bool /*is_refused*/) {
                events.push_back("down " + reason.substr(server_url().size() + 2));
            };
            AdapterOptions options;
            options.urls = urls.empty() ? Events{server_url()} : urls;
            options.secrets = [this] {
                return secrets;
            };
            options.warn = [this](const std::string& text) {
                warnings.push_back(text);
            };
            options.type_options = influxdb;
            adapter.emplace(loop, options, into);
        }
        adapter->connect();
    }
    void connect_and_expect_up() {
        connect();
        REQUIRE(next_events() == Events{"up"});
    }

    template <class Condition>
    [[nodiscard]] bool until(Condition condition) {
        return test::eventually([&] {
            reactor.poll();
            if (auto accepted = listener ? listener->accept() : std::nullopt) {
                peer.emplace(std::move(*accepted));
                ++connections;
                taken_ = 0;
            }
            return condition();
        });
    }
    /// Returns at least one event.
    Events next_events() {
        CHECK(until([this] { return !events.empty(); }));
        reactor.poll();
        return std::exchange(events, {});
    }
    void send(std::uint64_t number, const std::string& payload, std::uint64_t lines = 1) {
        OutgoingMessage message;
        message.payload = payload;
        message.samples = lines;
        message.format = format;
        adapter->send(message, number);
    }
    /// Returns the body of the next request, and keeps its head.
    std::string request() {
        std::string body;
        CHECK(until([&] {
            if (!peer) {
                return false;
            }
            const std::string all = peer->read().substr(taken_);
            const std::size_t end = all.find("\r\n\r\n");
            if (end == std::string::npos) {
                return false;
            }
            const std::string key = "Content-Length: ";
            const std::size_t bytes = std::stoul(all.substr(all.find(key) + key.size()));
            if (all.size() < end + 4 + bytes) {
                return false;
            }
            head = all.substr(0, end + 2);
            body = all.substr(end + 4, bytes);
            taken_ += end + 4 + bytes;
            return true;
        }));
        return body;
    }
    void respond(const std::string& status, const std::string& body = "", const std::string& headers = "") {
        peer->send("HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
                   "\r\n" + body);
    }

    Events urls;  // empty: the server
    std::string head;
    std::string format = "influxdb";  // of the messages
    std::string server;               // URL; "": that of the listener

  private:
    std::size_t taken_ = 0;
};

}  // namespace

TEST_CASE("messages that are sent together are one request, and each is acknowledged", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(7, "a v=1 1\n");
    f.send(8, "");
    f.send(9, "b v=1 1\n");
    CHECK(f.request() == "a v=1 1\nb v=1 1\n");
    CHECK(f.head.starts_with("POST /write?db=plant%201&precision=ns HTTP/1.1\r\n"));
    CHECK(f.head.find("\r\nHost: 127.0.0.1:") != std::string::npos);
    CHECK(f.head.find("Authorization") == std::string::npos);
    f.send(10, "c v=1 1\n");
    f.respond("204 No Content");
    CHECK(f.next_events() == Events{"stored 7", "stored 8", "stored 9"});
    CHECK(f.request() == "c v=1 1\n");
    f.respond("200 OK", "fine");
    CHECK(f.next_events() == Events{"stored 10"});
    CHECK(f.connections == 1);
}

TEST_CASE("a quarantined sample in the format of another type is not sent", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    f.format = "json";
    f.send(2, "{}");
    f.format = "influxdb";
    f.send(3, "b");
    CHECK(f.request() == "a");
    f.respond("204 No Content");
    CHECK(f.request() == "b");
    f.respond("204 No Content");
    CHECK(f.until([&] { return f.events.size() == 3; }));
    CHECK(f.events == Events{"stored 1", "refused 2 the message has the format json", "stored 3"});
}

TEST_CASE("a message without lines needs no request", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "");
    CHECK(f.next_events() == Events{"stored 1"});
}

TEST_CASE("a request has at most 5,000 lines or 1 MB, unless a message has more", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a", 3'000);
    f.send(2, "b", 2'000);
    f.send(3, "c", 1);
    f.send(4, std::string(1'000'001, 'd'), 1);
    f.send(5, "e", 1);
    CHECK(f.request() == "ab");
    f.respond("204 No Content");
    CHECK(f.request() == "c");
    f.respond("204 No Content");
    CHECK(f.request().size() == 1'000'001);
    f.respond("204 No Content");
    CHECK(f.request() == "e");
}

TEST_CASE("a refused request is repeated message by message, so that only the bad one is refused",
          "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    f.send(2, "b");
    f.send(3, "c");
    CHECK(f.request() == "abc");
    f.respond("400 Bad Request", R"({"error":"partial write: field type conflict"})");
    CHECK(f.request() == "a");
    f.send(4, "d");
    f.respond("204 No Content");
    CHECK(f.request() == "b");
    f.respond("400 Bad Request", R"({"error":"partial write: field type conflict"})");
    CHECK(f.request() == "c");
    f.respond("204 No Content");
    CHECK(f.request() == "d");
    f.respond("204 No Content");
    CHECK(f.until([&] { return f.events.size() == 4; }));
    CHECK(f.events ==
          Events{"stored 1", "refused 2 400 Bad Request: partial write: field type conflict", "stored 3", "stored 4"});
}

TEST_CASE("a message that is too large on its own is reported as such", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    f.send(2, "b");
    CHECK(f.request() == "ab");
    f.respond("413 Request Entity Too Large");
    CHECK(f.request() == "a");
    f.respond("413 Request Entity Too Large");
    CHECK(f.next_events().front() == "too large 1 413 Request Entity Too Large");
    CHECK(f.request() == "b");
    f.respond("204 No Content");
    CHECK(f.next_events() == Events{"stored 2"});
}

TEST_CASE("a busy server delays all messages for the time that it requests", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a", 5'000);
    f.send(2, "b");
    CHECK(f.request() == "a");
    f.respond("503 Service Unavailable", "cache-max-memory-size exceeded", "Retry-After: 7\r\n");
    CHECK(f.next_events() == Events{"later 1 503 Service Unavailable: cache-max-memory-size exceeded after 7000",
                                    "later 2 503 Service Unavailable: cache-max-memory-size exceeded after 7000"});
    f.send(3, "a");
    CHECK(f.request() == "a");
}

TEST_CASE("wrong settings are reported, and nothing is lost", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    const auto [status, headers, reason] = GENERATE(
        table<std::string, std::string, std::string>({{"401 Unauthorized", "", "later 1 401 Unauthorized"},
                                                      {"403 Forbidden", "", "later 1 403 Forbidden"},
                                                      {"404 Not Found", "", "later 1 404 Not Found"},
                                                      {"301 Moved", "Location: http://elsewhere/?p=secret\r\n",
                                                       "later 1 301 Moved: redirects are not followed; the server "
                                                       "names http://elsewhere/"}}));
    f.send(1, "a");
    CHECK(f.request() == "a");
    f.respond(status, "", headers);
    CHECK(f.next_events() == Events{reason});
    f.send(2, "b");
    CHECK(f.request() == "b");
    CHECK(f.connections ==
          (status.starts_with("40") && status != "404 Not Found" ? 2 : 1));  // reads the credentials again
}

TEST_CASE("a connection that the server closes after a response is opened again when it is needed",
          "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    f.respond("204 No Content", "", "Connection: close\r\n");
    CHECK(f.next_events() == Events{"stored 1"});
    f.send(2, "b");
    CHECK(f.until([&] { return f.connections == 2; }));
    CHECK(f.request() == "b");
    f.respond("204 No Content");
    CHECK(f.next_events() == Events{"stored 2"});
}

TEST_CASE("a server that closes the connection and accepts no other one has failed", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    const bool is_stored = GENERATE(false, true);
    if (is_stored) {
        f.respond("204 No Content");
        CHECK(f.next_events() == Events{"stored 1"});
    }
    f.listener.reset();
    f.peer.reset();
    CHECK(f.next_events().front().starts_with(is_stored ? "down cannot connect" : "down the server closed"));
}

TEST_CASE("a request without a response is repeated on another connection, but not again and again",
          "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    f.respond("204 No Content");
    CHECK(f.next_events() == Events{"stored 1"});
    f.send(2, "b");
    CHECK(f.request() == "b");
    f.peer.reset();
    CHECK(f.until([&] { return f.connections == 2; }));
    CHECK(f.request() == "b");
    if (GENERATE(false, true)) {
        f.respond("204 No Content");
        CHECK(f.next_events() == Events{"stored 2"});
    } else {
        f.peer.reset();
        CHECK(f.next_events() == Events{"down the server closed the connection"});
    }
}

TEST_CASE("another server is tried if one cannot store points", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.urls = {f.url(), f.url()};
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    f.respond("503 Service Unavailable", "", "Retry-After: 60\r\n");
    CHECK(f.next_events() == Events{"later 1 503 Service Unavailable", "down 503 Service Unavailable"});
}

TEST_CASE("points that a database drops because of their age are stored as far as it wants, with a warning",
          "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    f.respond("400 Bad Request", R"({"error":"partial write: points beyond retention policy dropped=1"})");
    CHECK(f.next_events() == Events{"stored 1"});
    CHECK(f.warnings.size() == 1);
}

TEST_CASE("a connection that is idle may be closed by the server", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    CHECK(f.until([&] { return f.peer.has_value(); }));
    f.peer.reset();
    for (int i = 0; i < 20; ++i) {
        f.reactor.poll();
    }
    f.send(1, "a");
    CHECK(f.request() == "a");
    CHECK(f.connections == 2);
    CHECK(f.events.empty());
}

TEST_CASE("a response without a request, and bytes that are not a response, end the connection", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.connect_and_expect_up();
    if (GENERATE(false, true)) {
        CHECK(f.until([&] { return f.peer.has_value(); }));
        f.respond("204 No Content");
        CHECK(f.next_events() == Events{"down the server has sent a response without a request"});
    } else {
        f.send(1, "a");
        CHECK(f.request() == "a");
        f.peer->send("SSH-2.0-OpenSSH_9.2\r\n\r\n");
        CHECK(f.next_events().front().starts_with("down the server does not speak HTTP"));
    }
}

TEST_CASE("the credentials are a token, or a user and a password", "[uplink][influxdb]") {
    DatabaseConnection f;
    const auto [content, bucket, header] = GENERATE(table<std::string, std::string, std::string>(
        {{"s3cr3t\n", "", "\r\nAuthorization: Bearer s3cr3t\r\n"},
         {"s3cr3t", "b", "\r\nAuthorization: Token s3cr3t\r\n"},
         {"gateway pa ss\n", "", "\r\nAuthorization: Basic Z2F0ZXdheTpwYSBzcw==\r\n"}}));
    f.secrets.credentials = {"/etc/token", content};
    f.influxdb.database = "";
    f.influxdb.bucket = bucket;
    f.influxdb.org = bucket;
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    CHECK(f.head.find(header) != std::string::npos);
    CHECK(f.head.starts_with(bucket.empty() ? "POST /write?precision=ns "
                                            : "POST /api/v2/write?bucket=b&org=b&precision=ns "));
    CHECK(f.warnings.size() == 1);
}

TEST_CASE("a proxy receives the whole URL, or passes on an encrypted connection", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.influxdb.proxy = f.url();
    f.server = "http://db.example.com:8086/p";
    f.connect_and_expect_up();
    f.send(1, "a");
    CHECK(f.request() == "a");
    CHECK(
        f.head.starts_with("POST http://db.example.com:8086/p/write?db=plant%201&precision=ns HTTP/1.1\r\n"
                           "Host: db.example.com:8086\r\n"));
}

TEST_CASE("a proxy that refuses a connection is reported", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.influxdb.proxy = f.url();
    f.server = "https://[::1]:8086";
    f.secrets.credentials = {"/etc/token", "s3cr3t"};
    f.connect();
    CHECK(f.until([&] { return f.peer && f.peer->read().ends_with("\r\n\r\n"); }));
    CHECK(f.peer->received() == "CONNECT [::1]:8086 HTTP/1.1\r\nHost: [::1]:8086\r\n\r\n");
    f.peer->send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    CHECK(f.next_events() == Events{"down the proxy refuses the connection: 407 Proxy Authentication Required"});
}

TEST_CASE("credentials that could add a header are refused", "[uplink][influxdb]") {
    DatabaseConnection f;
    f.secrets.credentials = {"/etc/token", GENERATE("a\r\nX: y", "", "\n", "a\x01")};
    f.connect();
    CHECK(f.next_events().front().starts_with("down invalid credentials in /etc/token: must be"));
}

TEST_CASE("the identity of a store depends on where points are stored, not on the server", "[uplink][influxdb]") {
    InfluxdbOptions one;
    one.database = "a";
    InfluxdbOptions other;
    other.database = "b";
    const ServerUrl url = parse_http_url("http://x:1/p").value_or(ServerUrl{});
    const ServerUrl mirror = parse_http_url("https://y/p/").value_or(ServerUrl{});
    CHECK(store_identity(url, one) == store_identity(mirror, one));
    CHECK(store_identity(url, one) != store_identity(url, other));
}

}  // namespace telegate::uplink
