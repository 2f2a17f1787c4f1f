#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_fixture.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 4s;  // for a response, on a machine that runs other tests too; attacks last 5 s

/// A complete gateway that samples, and the longest time that a well-behaved client has waited for it.
struct Attacked {
    GatewayFixture fixture{
        "[rest]\nlisten = 127.0.0.1:0\n[publish \"x\"]\nendpoint = tcp://127.0.0.1:*\n"
        "[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n"};

    std::string address() const { return fixture.gateway->rest_address(); }

    /// Returns whether a client receives the status in time, and sampling continues without loss.
    bool serves() {
        const auto begin = std::chrono::steady_clock::now();
        const int status = status_of(RawHttpClient(address()).send(get_status).read_all());
        return status == 200 && std::chrono::steady_clock::now() - begin < patience;
    }
    bool line_goes_on() {
        const auto sampled = [](const StatusSnapshot& status) {
            return status.ledger.at(0).sampled;
        };
        const StatusSnapshot before = fixture.status();
        return fixture.wait_for([&](const StatusSnapshot& now) {
            return sampled(now) > sampled(before) && now.ledger.at(0).balanced() && now.queue_agrees &&
                   now.ledger.at(0).dropped[static_cast<std::size_t>(DropReason::queue_overflow)] == 0;
        });
    }
};

/// Raises the descriptor limit to what clients and server need together; returns false if this machine does not allow
/// it.
bool have_descriptors(rlim_t count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < count) {
        limit.rlim_cur = count;
        limit.rlim_max = std::max(limit.rlim_max, count);
        ::setrlimit(RLIMIT_NOFILE, &limit);
        ::getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur >= count;
}

}  // namespace

TEST_CASE("five hundred clients that send their requests slowly block neither other clients nor sampling",
          "[gateway][http][hostile]") {
    Attacked gateway;
    std::list<RawHttpClient> slow;
    for (int client = 0; client < 500; ++client) {
        slow.emplace_back(gateway.address()).send("GET /status HTTP/1.1\r\nHost: localhost\r\nA: ");
    }
    for (int round = 0; round < 20; ++round) {
        for (RawHttpClient& client : slow) {
            client.send("x");
        }
        CHECK(gateway.serves());
    }
    CHECK(gateway.line_goes_on());
}

TEST_CASE("clients with huge heads block neither other clients nor sampling", "[gateway][http][hostile]") {
    Attacked gateway;
    const std::string head = "GET /status HTTP/1.1\r\nHost: h\r\nA: " + std::string(1024 * 1024, 'x');
    for (int client = 0; client < 10; ++client) {
        RawHttpClient hostile(gateway.address());
        CHECK(status_of(hostile.send(head).read_until("\r\n")) == 431);
        CHECK(gateway.serves());
    }
    CHECK(gateway.line_goes_on());
}

TEST_CASE("large bodies that never end use no more memory than allowed", "[gateway][http][hostile]") {
    HttpLimits limits;
    limits.bodies_bytes_max = 2 * limits.body_bytes_max;
    EchoServer server(limits);
    const std::string head = "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n";
    RawHttpClient first = server.connect();
    RawHttpClient second = server.connect();
    for (RawHttpClient* const client : {&first, &second}) {
        client->send("PUT /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1048576\r\n\r\n");
        CHECK(client->read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    }
    const std::string refusal = server.request(head);
    CHECK(status_of(refusal) == 503);
    CHECK(refusal.find("Retry-After: 1\r\n") != std::string::npos);
    CHECK(refusal.find(R"("instance":"/x")") != std::string::npos);
    CHECK(status_of(server.request(get_and_close)) == 200);
    CHECK(status_of(first.send(std::string(1'048'576, 'x')).read_until("PUT /x.")) == 200);
    RawHttpClient third = server.connect();
    CHECK(status_of(third.send(head + std::string(1'048'576, 'x')).read_until("PUT /x.")) == 200);
}

TEST_CASE("ten thousand idle connections block neither other clients nor sampling", "[gateway][http][hostile]") {
    constexpr std::size_t idle_clients = 10'000;
    if (!have_descriptors(idle_clients + 500)) {
        WARN("skipped: this machine does not give a process " << idle_clients + 500 << " descriptors");
        return;
    }
    Attacked gateway;
    std::list<RawHttpClient> idle;
    for (std::size_t client = 0; client < idle_clients; ++client) {
        idle.emplace_back(gateway.address());
        if (client % 1'000 == 0) {
            CHECK(gateway.serves());
        }
    }
    CHECK(gateway.serves());
    CHECK(gateway.line_goes_on());
}

TEST_CASE("requests hidden in other requests are not processed", "[gateway][http][hostile]") {
    const std::string hidden = "POST /hidden HTTP/1.1\r\nHost: h\r\n\r\n";
    const auto fields = GENERATE_COPY(values<std::string>({
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 0\r\nContent-Length: " + std::to_string(hidden.size()) + "\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Content-Length : " + std::to_string(hidden.size()) + "\r\n",
        "A: b\n\n" + hidden,
        "A: b\n" + hidden,
        "A: b\r\n \r\n" + hidden,
    }));
    CAPTURE(fields);
    std::atomic<bool> heard{false};
    EchoServer server({}, [&heard](const HttpRequest& request) {
        heard = heard || request.path == "/hidden";
        return EchoServer::echo(request);
    });
    const std::string answers = server.request("POST /x HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n" + hidden);
    CHECK(count_of(answers, "\r\nContent-Length: ") == 1);  // of responses
    CHECK(status_of(answers) >= 400);
    CHECK_FALSE(heard);
}

TEST_CASE("invalid data after a valid request ends only its connection", "[gateway][http][hostile]") {
    EchoServer server;
    const std::string answers =
        server.request(std::string(get) + std::string(200, '\0') + "\r\n\r\n" + std::string(get));
    CHECK(count_of(answers, "HTTP/1.1 200") == 1);
    CHECK(count_of(answers, "HTTP/1.1 400") == 1);
    CHECK(status_of(server.request(get_and_close)) == 200);
}

TEST_CASE("a client that sends requests endlessly and reads nothing blocks no other client",
          "[gateway][http][hostile]") {
    EchoServer server(unhurried());
    RawHttpClient flood(server.server.address(), 4'096);
    std::string requests;
    for (int request = 0; request < 500; ++request) {
        requests += get;
    }
    std::thread sender([&] { flood.send(requests); });
    for (int asked = 0; asked < 20; ++asked) {
        CHECK(status_of(server.request(get_and_close)) == 200);
    }
    server.server.stop();
    sender.join();
}
