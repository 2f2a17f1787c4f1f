#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <list>
#include <memory>
#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

// Which connection is closed when connections_max are open.

namespace {

constexpr std::string_view get_livez_and_close = "GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

HttpLimits places(std::size_t connections_max) {
    HttpLimits limits = unhurried();
    limits.connections_max = connections_max;
    limits.stuck_after = HttpLimits{}.stuck_after;
    return limits;
}

/// GET /large has a shared body that is more than any socket buffers; any other path is echoed. With a single worker, a
/// connection is no longer being answered, and so can be closed, once another one is answered.
struct CrowdedServer : EchoServer {
    explicit CrowdedServer(HttpLimits limits, std::size_t workers = 1)
        : EchoServer(
              limits,
              [body = std::make_shared<const std::string>(16 * 1024 * 1024, 'x')](const auto& request) {
                  HttpResponse response = EchoServer::echo(request);
                  response.shared_body = request.path == "/large" ? body : nullptr;
                  return response;
              },
              workers) {}

    /// Requests the large body and reads nothing.
    void add_stuck(std::list<RawHttpClient>& clients) {
        RawHttpClient& client = clients.emplace_back(server.address(), 4'096);
        CHECK(client.send(get_large).receives_within(long_enough));
    }
};

}  // namespace

TEST_CASE("a new connection is kept in preference to clients that do not read", "[gateway][http]") {
    CrowdedServer server(places(4));
    RawHttpClient connected = server.connect();
    std::list<RawHttpClient> stuck;
    for (int client = 0; client < 20; ++client) {
        server.add_stuck(stuck);
    }
    CHECK(status_of(connected.send(get_and_close).read_all()) == 200);
    CHECK_FALSE(connected.was_reset());
}

TEST_CASE("a client that occasionally requests its health check keeps its connection", "[gateway][http]") {
    CrowdedServer server(places(4));
    RawHttpClient checks = server.connect();
    std::list<RawHttpClient> others;
    for (int round = 0; round < 10; ++round) {
        CHECK(status_of(checks.send(get_livez).read_until("GET /livez.")) == 200);
        server.add_stuck(others);
        others.emplace_back(server.server.address());
        others.emplace_back(server.server.address()).send(get).read_until("GET /x.");
        others.emplace_back(server.server.address()).send("GET /x HT");
    }
    CHECK(status_of(checks.send(get_livez).read_until("GET /livez.")) == 200);
}

TEST_CASE("health checks of many clients, read or not, take no place from a new connection", "[gateway][http]") {
    CrowdedServer server(places(4));
    std::list<RawHttpClient> checks;
    int clients = 0;
    const auto check = [&] {
        const std::string source = "127.0.0." + std::to_string(++clients + 10);
        RawHttpClient& client = checks.emplace_back(server.server.address(), 0, source.c_str());
        client.send(get_livez).read_until("GET /livez.");
        client.send(get_livez).send(get_livez);
    };
    for (int number = 0; number < 4; ++number) {
        check();
    }
    RawHttpClient connected = server.connect();
    check();
    check();
    CHECK(status_of(connected.send(get_livez_and_close).read_all()) == 200);
}

TEST_CASE("a client that does not read its response is disconnected before all others", "[gateway][http]") {
    HttpLimits limits = places(4);
    limits.stuck_after = 0ms;
    CrowdedServer server(limits);
    RawHttpClient idle = server.connect();
    idle.send(get).read_until("GET /x.");
    RawHttpClient half = server.connect();
    half.send("GET /x HT");
    RawHttpClient connected = server.connect();
    std::list<RawHttpClient> stuck;
    server.add_stuck(stuck);
    CHECK(status_of(server.request(get_and_close)) == 200);
    CHECK(server.server.figures().response_bytes == 0);
    CHECK(status_of(idle.send(get).read_until("GET /x.")) == 200);
    CHECK(status_of(half.send("TP/1.1\r\nHost: h\r\n\r\n").read_until("GET /x.")) == 200);
    CHECK(status_of(connected.send(get).read_until("GET /x.")) == 200);
}

TEST_CASE("an idle client is disconnected before a new one", "[gateway][http]") {
    CrowdedServer server(places(2));
    RawHttpClient connected = server.connect();
    RawHttpClient idle = server.connect();
    idle.send(get).read_until("GET /x.");
    CHECK(status_of(server.request(get_and_close)) == 200);
    CHECK(idle.closed_by_server());
    CHECK(status_of(connected.send(get).read_until("GET /x.")) == 200);
}

TEST_CASE("health checks are answered while 200 clients do not read their responses", "[gateway][http]") {
    CrowdedServer server(places(64), 3);
    std::atomic<bool> ended{false};
    auto crowd = std::async(std::launch::async, [&] {
        std::list<RawHttpClient> stuck;
        for (int client = 1; !ended; ++client) {  // a closed client is replaced
            if (stuck.size() == 200) {
                stuck.pop_front();
            }
            stuck.emplace_back(server.server.address(), 4'096).send(get_large);
            if (client % 50 == 0) {  // otherwise thousands wait in the kernel, before the next health check
                stuck.back().receives_within(long_enough);
            }
        }
    });
    for (int check = 0; check < 150; ++check) {
        RawHttpClient client = server.connect();
        CHECK(status_of(client.send(get_livez_and_close).read_all()) == 200);
    }
    ended = true;
    crowd.wait();
}
