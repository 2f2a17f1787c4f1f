#include "gateway/http/echo_server.hpp"
#include "gateway/rest/fake_gateway.hpp"
#include "memory_rounds.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

using namespace telegate;
using namespace telegate::test;

namespace {

std::string request_for(const std::string& line, const std::string& body = "") {
    const std::string length = body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return line + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n" + length +
           "\r\n" + body;
}

/// Returns a body that depends on the path.
HttpResponse answer_any(const HttpRequest& request) {
    HttpResponse response = EchoServer::echo(request);
    if (request.path == "/large") {
        response.body = std::string(100'000, 'x');
    } else if (request.path == "/pieces") {
        response.pieces = [pieces = 0](std::string& out, std::size_t bytes_max) mutable {
            out.append(bytes_max, 'x');
            return ++pieces < 3 ? StreamState::more : StreamState::ended;
        };
    } else if (request.path == "/stream") {
        response.stream = [](std::string& out, std::size_t bytes_max) {
            out.append(bytes_max, 'x');
            return StreamState::ended;
        };
    }
    return response;
}

}  // namespace

TEST_CASE("a REST request for which there is no memory closes at most its own connection",
          "[gateway][http][allocations]") {
    const SparedThread spared;
    EchoServer server({}, answer_any);
    const std::string request =
        GENERATE(request_for("GET /x"), request_for("GET /%78?a=b"), request_for("POST /x", "body"),
                 request_for("GET /large"), request_for("GET /pieces"), request_for("GET /stream"));
    const auto failures = GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3});
    CAPTURE(request, failures);
    const std::string expected = server.ask(request);
    fail_each_allocation(
        failures, [&] { (void)server.ask(request); }, [&] { CHECK(server.ask(request) == expected); });
    CHECK(server.server.streams() == 0);
    CHECK(server.server.figures().response_bytes == 0);
}

TEST_CASE("a REST request for which there is no memory gets a response from the memory reserve",
          "[gateway][rest][allocations]") {
    const SparedThread spared;
    FakeGateway gateway;
    for (int channel = 0; channel < 10; ++channel) {
        REQUIRE(gateway.channels.add(DeviceId{0}, "host", "c" + std::to_string(channel), "").has_value());
    }
    RestServer server({"127.0.0.1", 0}, gateway.handlers());
    server.start();
    const std::string request =
        GENERATE(request_for("GET /status"), request_for("GET /channels?prefix=host"), request_for("GET /livez"),
                 request_for("GET /metrics"), request_for("GET /devices"), request_for("GET /nothing"),
                 request_for("GET /subscribers"), "nonsense\r\n\r\n");
    CAPTURE(request);
    const auto ask = [&] {
        return RawHttpClient(server.address()).send(request).read_all();
    };
    const int expected = status_of(ask());
    fail_each_allocation(
        1, [&] { (void)ask(); }, [&] { CHECK(status_of(ask()) == expected); });
}

TEST_CASE("a client for whose address there is no memory leaves no descriptor open", "[gateway][http][allocations]") {
    const SparedThread spared;
    std::optional<HttpServer> server;
    try {  // where IPv4 addresses are long
        server.emplace(HttpServerOptions{.host = "::"}, HttpCalls{EchoServer::echo});
    } catch (const std::system_error&) {
        WARN("skipped: this machine has no IPv6");
        return;
    }
    server->start();
    const auto ask = [&] {
        return RawHttpClient(server->address()).send(get_and_close).read_all();
    };
    const auto failures = GENERATE(std::uint64_t{1}, std::uint64_t{2});
    fail_each_allocation(
        failures, [&] { (void)ask(); }, [&] { CHECK(status_of(ask()) == 200); });
}
