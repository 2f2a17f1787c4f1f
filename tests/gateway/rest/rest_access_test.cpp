#include "rest/rest_server.hpp"

#include "gateway/http/raw_http_client.hpp"
#include "gateway/rest/fake_gateway.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <httplib.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr const char* tokens_text =
    "# role, name, token\n"
    "reader dashboard reading-is-all-I-do\n"
    "\n"
    "admin  operator  I-may-change-things\r\n";

struct GuardedServer {
    explicit GuardedServer(RestOptions options = {}) : server(with_port(std::move(options)), gateway.handlers()) {
        server.start();
    }
    static RestOptions with_port(RestOptions options) {
        options.port = 0;
        return options;
    }

    int get(const httplib::Headers& headers) { return status(client.Get("/status", headers)); }
    int post(const httplib::Headers& headers) { return status(client.Post("/start", headers, "", "text/plain")); }
    static int status(const httplib::Result& answer) { return answer ? answer->status : 0; }

    FakeGateway gateway;
    RestServer server;
    httplib::Client client{"127.0.0.1", port_of(server.address())};
};

/// Access with a tokens file.
struct WithTokens {
    ScratchDir folder;
    std::string file = write_private(folder, "tokens", tokens_text);
    GuardedServer rest{{.credentials = {.tokens_file = file, .tls = {}}}};
};

httplib::Headers bearer(const std::string& token) {
    return {{"Authorization", "Bearer " + token}};
}

const httplib::Headers reader = bearer("reading-is-all-I-do");
const httplib::Headers admin = bearer("I-may-change-things");

}  // namespace

TEST_CASE("with tokens, a client without one is refused", "[gateway][rest][access]") {
    WithTokens with;
    const auto answer = with.rest.client.Get("/status");
    REQUIRE(answer);
    CHECK(answer->status == 401);
    CHECK(answer->get_header_value("WWW-Authenticate") == "Bearer");
    CHECK(answer->get_header_value("Content-Type") == "application/problem+json");
    CHECK(with.rest.post({}) == 401);
    CHECK(with.rest.gateway.state("host") == DeviceState::idle);
}

TEST_CASE("a reader can read and an admin can change", "[gateway][rest][access]") {
    WithTokens with;
    CHECK(with.rest.get(reader) == 200);
    CHECK(with.rest.post(reader) == 403);
    CHECK(with.rest.gateway.state("host") == DeviceState::idle);
    CHECK(with.rest.get(admin) == 200);
    CHECK(with.rest.post(admin) == 200);
}

TEST_CASE("the OpenAPI document says whether the client needs credentials", "[gateway][rest][access]") {
    WithTokens with;
    GuardedServer open;
    const auto alternatives = [](GuardedServer& rest) {
        const auto answer = rest.client.Get("/openapi.json", reader);
        REQUIRE(answer);
        return nlohmann::json::parse(answer->body)["paths"]["/start"]["post"]["security"].size();
    };
    CHECK(alternatives(with.rest) == 2);
    CHECK(alternatives(open) == 3);
}

TEST_CASE("a token must match exactly", "[gateway][rest][access]") {
    WithTokens with;
    const auto text = GENERATE("Bearer reading-is-all-I-d", "Bearer reading-is-all-I-doo", "Bearer READING-IS-ALL-I-DO",
                               "Bearer ", "Bearer", "Basic reading-is-all-I-do", "reading-is-all-I-do",
                               "Bearer reading-is-all-I-do, Bearer x", "Bearer dashboard");
    CAPTURE(text);
    CHECK(with.rest.get({{"Authorization", text}}) == 401);
}

TEST_CASE("the word Bearer may be written in any case", "[gateway][rest][access]") {
    WithTokens with;
    CHECK(with.rest.get({{"Authorization", "bearer reading-is-all-I-do"}}) == 200);
}

TEST_CASE("an address that sends invalid tokens is soon rate-limited, while valid tokens are not",
          "[gateway][rest][access]") {
    WithTokens with;
    int status = 0;
    std::string retry;
    for (int guess = 0; guess < 50 && status != 429; ++guess) {
        const auto answer = with.rest.client.Get("/status", bearer("a-guess-at-a-token"));
        REQUIRE(answer);
        status = answer->status;
        retry = answer->get_header_value("Retry-After");
    }
    CHECK(status == 429);
    CHECK(retry == "1");
    CHECK(with.rest.get(reader) == 200);
    const auto health = with.rest.client.Get("/livez", bearer("a-guess-at-a-token"));
    REQUIRE(health);
    CHECK(health->status == 200);
}

TEST_CASE("changes that come too fast are refused with 429", "[gateway][rest][access]") {
    RestOptions options;
    options.limits.changes = {0.001, 2};
    GuardedServer rest(options);
    CHECK(rest.post({}) == 200);
    CHECK(rest.post({}) == 200);
    const auto answer = rest.client.Post("/start", "", "text/plain");
    REQUIRE(answer);
    CHECK(answer->status == 429);
    CHECK(answer->get_header_value("Retry-After") == "1");
    CHECK(rest.get({}) == 200);
}

TEST_CASE("a client that changes settings without a pause can still command devices", "[gateway][rest][access]") {
    GuardedServer rest({.limits = {.changes = {0.0, 2.0}}});
    const auto set_level = [&] {
        return GuardedServer::status(rest.client.Put("/log-level", R"({"level":"info"})", "application/json"));
    };
    CHECK(set_level() == 200);
    CHECK(set_level() == 200);
    CHECK(set_level() == 429);
    CHECK(GuardedServer::status(rest.client.Post("/devices/host/stop", "", "text/plain")) == 200);
    CHECK(rest.post({}) == 200);
}

TEST_CASE("a page of another origin cannot open a stream, and a browser's request for its page is refused",
          "[gateway][rest][access]") {
    GuardedServer rest;
    const std::string own = "http://" + rest.server.address();
    const auto stream = [&](const std::string& field) {
        RawHttpClient client(rest.server.address());
        client.send("GET /stream HTTP/1.1\r\nHost: " + rest.server.address() + "\r\n" + field + "\r\n\r\n");
        return client.read_until("\r\n").substr(9, 3);
    };
    CHECK(stream("Origin: http://evil.example") == "403");
    CHECK(stream("Origin: null") == "403");
    CHECK(stream("Sec-Fetch-Site: cross-site") == "403");
    CHECK(stream("Origin: " + own) == "200");
    CHECK(stream("Sec-Fetch-Site: same-origin") == "200");
    CHECK(rest.get({{"Sec-Fetch-Site", "same-site"}}) == 403);
    CHECK(rest.get({{"Sec-Fetch-Site", "none"}}) == 200);
}

TEST_CASE("a link of another origin opens a page, but neither a frame nor a stream", "[gateway][rest][access]") {
    GuardedServer rest;
    const auto navigate = [&](const char* site, const char* to, const char* path) {
        return GuardedServer::status(
            rest.client.Get(path, {{"Sec-Fetch-Site", site}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", to}}));
    };
    CHECK(navigate("cross-site", "document", "/status") == 200);
    CHECK(navigate("cross-site", "document", "/stream") == 403);
    for (const char* const embedded : {"iframe", "frame", "object", "embed", ""}) {
        CHECK(navigate("cross-site", embedded, "/stream") == 403);
        CHECK(navigate("same-site", embedded, "/status") == 403);
    }
}

TEST_CASE("a request with an unknown token is logged with its address", "[gateway][rest][access]") {
    WithTokens with;
    CHECK(with.rest.get(bearer("a-token-that-nobody-has")) == 401);
    with.rest.server.stop();
    CHECK(with.rest.gateway.changes ==
          std::vector<std::string>{"rest request refused from=127.0.0.1 method=GET path=/status reason=unknown_token"});
}

TEST_CASE("after a reload the new tokens are valid and the old ones are not", "[gateway][rest][access]") {
    WithTokens with;
    write_private(with.folder, "tokens", "reader someone another-token-of-mine\n");
    CHECK(with.rest.get(reader) == 200);
    with.rest.server.reload_credentials();
    CHECK(with.rest.get(reader) == 401);
    CHECK(with.rest.get(bearer("another-token-of-mine")) == 200);
}

TEST_CASE("a reload of an invalid file changes nothing and reports the reason", "[gateway][rest][access]") {
    WithTokens with;
    write_private(with.folder, "tokens", "reader someone short\n");
    CHECK_THROWS_WITH(with.rest.server.reload_credentials(),
                      Catch::Contains(with.file + ":1: invalid token of someone"));
    CHECK(with.rest.get(reader) == 200);
}

TEST_CASE("a page of another origin cannot change anything", "[gateway][rest][access]") {
    GuardedServer rest;
    const std::string own = "http://" + rest.server.address();
    CHECK(rest.post({{"Origin", "http://evil.example"}}) == 403);
    CHECK(rest.post({{"Origin", "null"}}) == 403);
    CHECK(rest.post({{"Origin", own + "0"}}) == 403);
    CHECK(rest.gateway.state("host") == DeviceState::idle);
    CHECK(rest.post({{"Origin", own}}) == 200);
    CHECK(rest.get({{"Origin", "http://evil.example"}}) == 200);
}

TEST_CASE("a foreign host name that resolves to this machine gives no access", "[gateway][rest][access]") {
    GuardedServer rest;
    const auto [host, status] = GENERATE(table<std::string, int>({
        {"evil.example", 421},
        {"evil.example:8080", 421},
        {"localhost.evil.example", 421},
        {"127.0.0.1.evil.example", 421},
        {"[::1", 421},
        {"[::1]x", 421},
        {"127.0.0.1:x", 421},
        {"localhost", 200},
        {"LOCALHOST:8080", 200},
        {"127.0.0.1:8080", 200},
        {"10.0.0.7", 200},
        {"[::1]:8080", 200},
    }));
    CAPTURE(host);
    CHECK(rest.get({{"Host", host}}) == status);
    CHECK(rest.get({{"Host", host}, {"Authorization", "Bearer whatever"}}) == status);
}

TEST_CASE("without configured tokens, a page that sends a token can change no more than another",
          "[gateway][rest][access]") {
    GuardedServer rest;
    CHECK(rest.post({{"Origin", "http://evil.example"}, {"Authorization", "x"}}) == 403);
    CHECK(rest.gateway.state("host") == DeviceState::idle);
}

TEST_CASE("with a token, any host name is accepted", "[gateway][rest][access]") {
    WithTokens with;
    httplib::Headers headers = admin;
    headers.emplace("Host", "telegate.example");
    headers.emplace("Origin", "https://dashboard.example");
    CHECK(with.rest.post(headers) == 200);
}

TEST_CASE("a change is logged with the client and the request", "[gateway][rest][access]") {
    ScratchDir folder;
    FakeGateway gateway;
    std::string told;
    RestHandlers handlers = gateway.handlers();
    handlers.log_change = [&told](const LogLine& line) {
        told += line.text() + '\n';
    };
    handlers.log_refused = [&told](std::string_view who, const LogLine& line) {
        told += "refused " + std::string(who) + ": " + line.text() + '\n';
    };
    RestServer server(
        {.port = 0, .credentials = {.tokens_file = write_private(folder, "tokens", tokens_text), .tls = {}}}, handlers);
    server.start();
    httplib::Client client("127.0.0.1", port_of(server.address()));
    client.Get("/status", admin);
    client.Post("/start", "", "text/plain");
    client.Post("/start", reader, "", "text/plain");
    client.Post("/devices/host/stop", admin, "", "text/plain");
    server.stop();
    CHECK(told ==
          "refused 127.0.0.1: rest request refused from=127.0.0.1 method=POST path=/start reason=no_token\n"
          "refused dashboard: rest change by=dashboard method=POST path=/start result=403\n"
          "rest change by=operator method=POST path=/devices/host/stop result=200 command=stop device=host\n");
}

TEST_CASE("a path cannot add fields to the log line", "[gateway][rest][access]") {
    ScratchDir folder;
    FakeGateway gateway;
    RestServer server(
        {.port = 0, .credentials = {.tokens_file = write_private(folder, "tokens", tokens_text), .tls = {}}},
        gateway.handlers());
    server.start();
    const std::string path = GENERATE("/devices/x%20result=200%20by=operator%20path=/stop%20y=/start",
                                      "/devices/%22%20result=200%20reason=%22/start", "/devices/\"result=200/start");
    httplib::Client client("127.0.0.1", port_of(server.address()));
    client.set_url_encode(false);
    client.Post(path.c_str(), reader, "", "text/plain");
    server.stop();
    REQUIRE(gateway.changes.size() == 1);
    const auto line = nlohmann::json::parse(gateway.changes_as_json.at(0));
    CHECK(line ==
          nlohmann::json{
              {"message", "rest change"}, {"by", "dashboard"}, {"method", "POST"}, {"path", path}, {"result", 403}});
    CHECK(gateway.changes[0].find(" by=operator") == std::string::npos);
}

TEST_CASE("the body of an unauthenticated request is not waited for", "[gateway][rest][access]") {
    WithTokens with;
    RawHttpClient client(with.rest.server.address());
    client.send("POST /start HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
    CHECK(client.read_until("\r\n").starts_with("HTTP/1.1 401"));
}

TEST_CASE("a change is visible in the status at once", "[gateway][rest]") {
    FakeGateway gateway;
    RestHandlers handlers = gateway.handlers();
    handlers.snapshot = [&gateway] {
        StatusSnapshot snapshot;
        snapshot.epoch_ms = gateway.state("host") == DeviceState::measuring ? 1 : 0;
        return std::optional(snapshot);
    };
    RestServer server({.port = 0}, handlers);
    server.start();
    httplib::Client client("127.0.0.1", port_of(server.address()));
    for (int time = 0; time < 10; ++time) {
        CHECK(client.Get("/status")->body.find("\"epoch\":0") != std::string::npos);
        client.Post("/start", "", "text/plain");
        CHECK(client.Get("/status")->body.find("\"epoch\":1") != std::string::npos);
        client.Post("/stop", "", "text/plain");
    }
}
