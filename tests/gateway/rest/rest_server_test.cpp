#include "rest/rest_server.hpp"

#include "gateway/http/raw_http_client.hpp"
#include "gateway/rest/fake_gateway.hpp"
#include "support/catch.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <future>
#include <list>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

using namespace telegate;
using nlohmann::json;

namespace {

struct RestFixture {
    RestFixture() { server.start(); }

    httplib::Result post(const std::string& path) { return client.Post(path); }

    test::FakeGateway gateway;
    RestServer server{{"127.0.0.1", 0}, gateway.handlers()};
    httplib::Client client{"127.0.0.1", test::port_of(server.address())};
};

// Returns whether `answer` is a problem with all members of RFC 9457; `path` is its instance.
bool is_problem(const httplib::Result& answer, int status, const std::string& path) {
    if (!answer || answer->status != status || answer->get_header_value("Content-Type") != "application/problem+json") {
        return false;
    }
    const json problem = json::parse(answer->body);
    return problem["type"] == "about:blank" && problem["status"] == status && !problem["title"].empty() &&
           !problem["detail"].empty() && problem["instance"] == path;
}

std::string detail_of(const httplib::Result& answer) {
    return json::parse(answer->body)["detail"];
}

}  // namespace

TEST_CASE("GET /status is JSON that must not be cached", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.client.Get("/status");
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->get_header_value("Content-Type") == "application/json");
    CHECK(answer->get_header_value("Cache-Control") == "no-store");
    CHECK(json::parse(answer->body)["name"] == "telegate");
}

TEST_CASE("a query does not change the meaning of a path", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.client.Get("/status?");
    REQUIRE(answer);
    CHECK(answer->status == 200);
}

TEST_CASE("HEAD has the length of GET and no body", "[gateway][rest]") {
    RestFixture rest;
    const auto path = GENERATE("/", "/status");
    CAPTURE(path);
    const auto head = rest.client.Head(path);
    const auto got = rest.client.Get(path);
    REQUIRE(head);
    REQUIRE(got);
    CHECK(head->status == 200);
    CHECK(head->body.empty());
    CHECK(head->get_header_value("Content-Length") == std::to_string(got->body.size()));
}

TEST_CASE("GET / lists every path", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.client.Get("/");
    REQUIRE(answer);
    CHECK(answer->get_header_value("Content-Type") == "text/plain; charset=utf-8");
    const auto path = GENERATE("/status", "/start", "/stop", "/reset", "/devices/NAME/start", "/devices/NAME/stop",
                               "/devices/NAME/reset");
    CAPTURE(path);
    CHECK(answer->body.find(path) != std::string::npos);
}

TEST_CASE("a response is neither compressed nor split into ranges", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.client.Get("/status", {{"Accept-Encoding", "gzip, br"}, {"Range", "bytes=0-3"}});
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK_FALSE(answer->has_header("Content-Encoding"));
    CHECK(json::parse(answer->body)["name"] == "telegate");
}

TEST_CASE("a status that is late is 503 with a time to retry", "[gateway][rest]") {
    RestFixture rest;
    rest.gateway.answering = false;
    const auto answer = rest.client.Get("/status");
    CHECK(is_problem(answer, 503, "/status"));
    CHECK(answer->get_header_value("Retry-After") == "1");
}

TEST_CASE("a command to all devices returns every device's new state", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.post("/start");
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(json::parse(answer->body) ==
          json::parse(R"({"devices":[{"name":"host","state":"measuring"},{"name":"boiler","state":"measuring"}]})"));
}

TEST_CASE("a command to one device leaves the others alone", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.post("/devices/boiler/start");
    REQUIRE(answer);
    CHECK(json::parse(answer->body) == json::parse(R"({"devices":[{"name":"boiler","state":"measuring"}]})"));
    CHECK(rest.gateway.state("host") == DeviceState::idle);
}

TEST_CASE("commands are idempotent", "[gateway][rest]") {
    RestFixture rest;
    const auto path = GENERATE("/start", "/stop", "/reset", "/devices/host/start", "/devices/host/stop");
    CAPTURE(path);
    const auto first = rest.post(path);
    const auto second = rest.post(path);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(second->status == 200);
    CHECK(first->body == second->body);
}

TEST_CASE("start and stop conflict with state safe and name the remedy", "[gateway][rest]") {
    RestFixture rest;
    rest.gateway.put("boiler", DeviceState::safe);
    const std::string path = GENERATE("/devices/boiler/start", "/devices/boiler/stop");
    CAPTURE(path);
    const auto answer = rest.post(path);
    CHECK(is_problem(answer, 409, path));
    CHECK(detail_of(answer) == "boiler is in state safe and must be reset first: POST /devices/boiler/reset");
    CHECK(rest.gateway.state("boiler") == DeviceState::safe);
}

TEST_CASE("a conflict of one device does not affect the command to the others", "[gateway][rest]") {
    RestFixture rest;
    rest.gateway.put("host", DeviceState::safe);
    const auto answer = rest.post("/start");
    REQUIRE(is_problem(answer, 409, "/start"));
    CHECK(detail_of(answer).find("host is in state safe") == 0);
    CHECK(json::parse(answer->body)["devices"] ==
          json::parse(R"([{"name":"host","state":"safe"},{"name":"boiler","state":"measuring"}])"));
    CHECK(rest.gateway.state("boiler") == DeviceState::measuring);
}

TEST_CASE("a conflict of several devices names them all", "[gateway][rest]") {
    RestFixture rest;
    rest.gateway.put("host", DeviceState::safe);
    rest.gateway.put("boiler", DeviceState::safe);
    const auto answer = rest.post("/stop");
    REQUIRE(is_problem(answer, 409, "/stop"));
    CHECK(detail_of(answer).find("host, boiler are in state safe") == 0);
}

TEST_CASE("a reset leaves state safe", "[gateway][rest]") {
    RestFixture rest;
    rest.gateway.put("boiler", DeviceState::safe);
    REQUIRE(rest.post("/devices/boiler/reset"));
    const auto answer = rest.post("/devices/boiler/start");
    REQUIRE(answer);
    CHECK(answer->status == 200);
}

TEST_CASE("an unknown device is 404 and the known ones are named", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.post("/devices/boyler/start");
    CHECK(is_problem(answer, 404, "/devices/boyler/start"));
    CHECK(detail_of(answer) == "there is no device \"boyler\"; known devices: host, boiler");
}

TEST_CASE("a device name with special bytes is 404 and shown escaped", "[gateway][rest]") {
    RestFixture rest;
    const auto answer = rest.post("/devices/%ff%0Aa/start");
    CHECK(is_problem(answer, 404, "/devices/%ff%0Aa/start"));
    CHECK(detail_of(answer) == "there is no device \"\\xff\\x0aa\"; known devices: host, boiler");
}

TEST_CASE("an encoded slash does not separate parts of a path", "[gateway][rest]") {
    RestFixture rest;
    const auto status = [&](const std::string& target) {
        const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        return test::RawHttpClient(rest.server.address()).send(request).read_all().substr(0, 12);
    };
    CHECK(status("/devices%2fhost") == "HTTP/1.1 404");
    CHECK(status("/s%61mples/latest?prefix=%2F") == "HTTP/1.1 200");
}

TEST_CASE("an unknown path is 404 for every method", "[gateway][rest]") {
    RestFixture rest;
    const std::string path = GENERATE("/nothing", "/status/", "/devices/", "/devices//start", "/devices/host/explode",
                                      "/x/start", "//", "/samples/host");
    CAPTURE(path);
    CHECK(is_problem(rest.client.Get(path), 404, path));
    CHECK(is_problem(rest.post(path), 404, path));
}

TEST_CASE("a known path with the wrong method is 405 and lists the allowed ones", "[gateway][rest]") {
    RestFixture rest;
    const std::string method = GENERATE("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST");
    CAPTURE(method);
    httplib::Request request;
    request.method = method;
    request.path = "/status";
    const auto answer = rest.client.send(request);
    CHECK(is_problem(answer, 405, "/status"));
    CHECK(answer->get_header_value("Allow") == "GET, HEAD");
}

TEST_CASE("a body up to the limit is ignored and one byte more is 413", "[gateway][rest]") {
    RestFixture rest;
    const std::string most(RestServer::body_bytes_max, 'x');
    const auto taken = rest.client.Post("/start", most, "application/json");
    REQUIRE(taken);
    CHECK(taken->status == 200);
    rest.gateway.put("host", DeviceState::idle);
    CHECK(is_problem(rest.client.Post("/start", most + 'x', "application/json"), 413, "/start"));
    CHECK(rest.gateway.state("host") == DeviceState::idle);
}

TEST_CASE("the address has the actual port", "[gateway][rest]") {
    RestFixture rest;
    CHECK(rest.server.address().starts_with("127.0.0.1:"));
    CHECK(test::port_of(rest.server.address()) != 0);
}

TEST_CASE("a port in use stops the start and is named", "[gateway][rest]") {
    RestFixture rest;
    const auto port = test::port_of(rest.server.address());
    test::FakeGateway other;
    try {
        const RestServer second({"127.0.0.1", port}, other.handlers());
        FAIL("the port was shared");
    } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::address_in_use);
        CHECK(std::string(error.what()).find(rest.server.address()) != std::string::npos);
    }
}

TEST_CASE("an address of another machine stops the start and is named", "[gateway][rest]") {
    test::FakeGateway gateway;
    try {
        const RestServer server({"192.0.2.1", 0}, gateway.handlers());
        FAIL("192.0.2.1 is not assigned");
    } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::address_not_available);
        CHECK(std::string(error.what()).find("192.0.2.1") != std::string::npos);
    }
}

TEST_CASE("the port is free again after a stop", "[gateway][rest]") {
    test::FakeGateway gateway;
    RestServer first({"127.0.0.1", 0}, gateway.handlers());
    first.start();
    const auto port = test::port_of(first.address());
    httplib::Client client("127.0.0.1", port);
    REQUIRE(client.Get("/status"));
    first.stop();
    CHECK_NOTHROW(RestServer({"127.0.0.1", port}, gateway.handlers()));
}

TEST_CASE("health checks are answered while the I/O thread hangs, whatever else is requested",
          "[gateway][rest][health]") {
    test::FakeGateway gateway;
    std::promise<void> goes_on;
    const auto hang = [waits = goes_on.get_future().share()] {
        waits.wait();
    };
    RestHandlers handlers = gateway.handlers();
    handlers.snapshot = [&]() -> std::optional<StatusSnapshot> {
        hang();
        return std::nullopt;
    };
    handlers.command = [&](std::string_view, DeviceCommand) -> std::optional<CommandResult> {
        hang();
        return std::nullopt;
    };
    RestServer server({"127.0.0.1", 0}, std::move(handlers));
    server.start();
    std::list<test::RawHttpClient> others;
    for (const char* request : {"GET /status", "GET /metrics", "POST /stop", "GET /status", "GET /subscribers"}) {
        others.emplace_back(server.address()).send(request + std::string(" HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    }
    for (const char* path : {"/livez", "/readyz", "/healthz", "/-/healthy", "/-/ready", "/livez?verbose"}) {
        CAPTURE(path);
        const std::string request = "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        CHECK(test::RawHttpClient(server.address()).send(request).read_until("ok\n").starts_with("HTTP/1.1 200"));
    }
    goes_on.set_value();
}

TEST_CASE("a closed server serves only streams and health checks", "[gateway][rest][stream]") {
    RestFixture rest;
    test::RawHttpClient stream(rest.server.address());
    stream.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n").read_until("\r\n\r\n");
    rest.server.close();
    CHECK(rest.client.Get("/livez")->status == 200);
    CHECK(is_problem(rest.client.Get("/status"), 503, "/status"));
    CHECK(is_problem(rest.client.Get("/stream"), 503, "/stream"));
    CHECK(is_problem(rest.post("/start"), 503, "/start"));
    CHECK(rest.client.Get("/status")->get_header_value("Retry-After") == "1");
    CHECK(rest.gateway.state("host") == DeviceState::idle);
    rest.gateway.streams.end();
    rest.server.wake_streams();
    CHECK(stream.read_all().find("event: end\n") != std::string::npos);
}
