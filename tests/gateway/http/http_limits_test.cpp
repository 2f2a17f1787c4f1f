#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <sys/resource.h>

#include <chrono>
#include <list>
#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

// Returns how often threads of this process have gone to sleep.
long sleeps() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

}  // namespace

TEST_CASE("an unsupported request is refused with its status code and the connection closes", "[gateway][http]") {
    const auto [request, status] = GENERATE(table<std::string, int>({
        {"nonsense\r\n\r\n", 400},
        {"GET\r\n\r\n", 400},
        {"GET /x HTTP/2.0\r\n\r\n", 400},
        {"GET /x HTTP/1.1\r\nHost: h\r\nExpect: a miracle\r\n\r\n", 417},
        {"GET /x HTTP/1.1\n\n", 400},
        {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: five\r\n\r\n", 400},
        {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400},
        {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
        {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n", 413},
        {"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 411},
        {"GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 414},
        {"GET /" + std::string(20'000, 'x'), 414},
        {"GET /x HTTP/1.1\r\nA: " + std::string(20'000, 'x'), 431},
    }));
    CAPTURE(request.substr(0, 60));
    EchoServer server;
    const std::string answer = server.request(request);
    CHECK(status_of(answer) == status);
    CHECK(answer.find("Connection: close") != std::string::npos);
    CHECK(answer.find("application/problem+json") != std::string::npos);
}

TEST_CASE("a head that is too long is refused, naming its path if it is known", "[gateway][http]") {
    const std::string rest = "\r\nA: " + std::string(20'000, 'x');
    const auto [head, instance] = GENERATE_COPY(table<std::string, std::string>({
        {"GET /x%20y?q=1 HTTP/1.1" + rest, "/x%20y"},
        {"GET /" + std::string(20'000, 'x'), ""},
        {"GET" + rest, ""},
        {"GET nonsense" + rest, ""},
        {"GET  HTTP/1.1" + rest, ""},
    }));
    EchoServer server;
    CHECK_THAT(server.request(head), Catch::Contains("\"instance\":\"" + instance + '"'));
}

TEST_CASE("a Range field is ignored, however long it is", "[gateway][http]") {
    EchoServer server;
    std::string ranges = GENERATE("0-1,", "-,", "1", "nonsense");
    while (ranges.size() < 8'000) {
        ranges += ranges;
    }
    const std::string answer =
        server.request("GET /x?a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nRange: bytes=" + ranges + "\r\n\r\n");
    CHECK(status_of(answer) == 200);
    CHECK(answer.ends_with("GET /x."));
}

TEST_CASE("a refusal reaches a client that is still sending, without a connection reset", "[gateway][http]") {
    EchoServer server;
    const std::string body(4 * 1024 * 1024, 'x');
    const std::string head =
        "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    RawHttpClient client = server.connect();
    CHECK(status_of(client.send(head + body).read_all()) == 413);
    CHECK_FALSE(client.was_reset());
}

TEST_CASE("clients that are idle or stop in the middle of a request block no other client", "[gateway][http]") {
    EchoServer server(unhurried());
    std::list<RawHttpClient> others;
    for (int client = 0; client < 10; ++client) {
        others.emplace_back(server.server.address());
        others.emplace_back(server.server.address()).send(get).read_until("GET /x.");
        others.emplace_back(server.server.address()).send("GET /x HT");
    }
    CHECK(status_of(server.request(get_and_close)) == 200);
}

TEST_CASE("clients that do not read a large response block no other client", "[gateway][http]") {
    const std::string large(8 * 1024 * 1024, 'x');
    EchoServer server(unhurried(), [&large](const HttpRequest& request) {
        return request.path == "/large" ? HttpResponse{200, "text/plain", large, {}} : EchoServer::echo(request);
    });
    std::list<RawHttpClient> others;
    for (int client = 0; client < 4; ++client) {
        others.emplace_back(server.server.address(), 4'096)
            .send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
            .read_until("\r\n");
    }
    CHECK(status_of(server.request(get_and_close)) == 200);
}

TEST_CASE("each phase of a connection has its own deadline", "[gateway][http]") {
    HttpLimits limits;
    limits.request_time = limits.idle_time = limits.response_time = 50ms;
    const std::string large(8 * 1024 * 1024, 'x');
    EchoServer server(limits, [&large](const HttpRequest& request) {
        return request.path == "/large" ? HttpResponse{200, "text/plain", large, {}} : EchoServer::echo(request);
    });

    SECTION("nothing sent") {
        CHECK(server.connect().closed_by_server());
    }
    SECTION("half a request sent") {
        CHECK(server.connect().send("GET /x HT").closed_by_server());
    }
    SECTION("half a body sent") {
        CHECK(server.connect().send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n1234").closed_by_server());
    }
    SECTION("half of an unwanted body sent") {
        RawHttpClient client = server.connect();
        client.send("DELETE /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n1234").read_until("DELETE /x.");
        CHECK(client.closed_by_server());
    }
    SECTION("idle after a response") {
        RawHttpClient client = server.connect();
        client.send(get).read_until("GET /x.");
        CHECK(client.closed_by_server());
    }
    SECTION("a response that is not read") {
        RawHttpClient slow = server.connect(4'096);
        slow.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n").read_until("\r\n");
        CHECK(server.connect().closed_by_server());  // started later, with the same deadline
        CHECK(slow.read_all().size() < large.size());
    }
}

TEST_CASE("a request that arrives slowly has no more time than one that does not arrive", "[gateway][http]") {
    HttpLimits limits;
    limits.request_time = 100ms;
    EchoServer server(limits);
    RawHttpClient client = server.connect();
    CHECK(
        eventually([&client] { return client.send("x").has_ended(); }, 15s));  // a head that is too large takes longer
}

TEST_CASE("a connection closes after its last request, and the response announces it", "[gateway][http]") {
    HttpLimits limits;
    limits.requests_max = 2;
    EchoServer server(limits);
    RawHttpClient client = server.connect();
    CHECK(client.send(get).read_until("GET /x.").find("Connection: close") == std::string::npos);
    CHECK(client.send(get).read_all().find("Connection: close") != std::string::npos);
}

TEST_CASE("a server without free descriptors accepts clients again when some are free", "[gateway][http]") {
    HttpServer server({"127.0.0.1", 0, 2, {}}, {EchoServer::echo});
    RawHttpClient client(server.address());
    client.send(get_and_close);
    rlimit usual{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const rlimit none{1, usual.rlim_max};  // descriptor 0 is in use, and poll() needs one
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    server.start();
    const bool served_with_none = client.receives_within(50ms);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
    CHECK_FALSE(served_with_none);
    CHECK(status_of(client.read_all()) == 200);
}

TEST_CASE("an idle client causes no wake-up before its deadline", "[gateway][http]") {
    HttpLimits limits;
    limits.idle_time = 500ms;
    EchoServer server(limits);
    RawHttpClient idle = server.connect();
    idle.send(get).read_until("GET /x.");
    const long before = sleeps();
    CHECK(idle.closed_by_server());
    CHECK(sleeps() - before < 25);  // polling a hundred times a second would cause fifty
}
