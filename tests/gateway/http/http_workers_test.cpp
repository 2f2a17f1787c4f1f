#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <iterator>
#include <list>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

// Which requests are answered while workers wait for another thread.

namespace {

constexpr std::string_view get_slow = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n";

/// GET /slow is answered after release() is called; any other path is echoed at once.
struct SlowServer : EchoServer {
    explicit SlowServer(HttpLimits limits = unhurried())
        : EchoServer(limits, [this](const HttpRequest& request) {
              if (request.path == "/slow") {
                  ++entered;
                  released_.wait();
                  answered += 1;
              }
              return EchoServer::echo(request);
          }) {}
    ~SlowServer() {
        release();
        server.stop();  // its workers use the members below
    }
    SlowServer(const SlowServer&) = delete;
    SlowServer& operator=(const SlowServer&) = delete;

    void release() {
        if (!std::exchange(is_released_, true)) {
            release_.set_value();
        }
    }
    void add_clients(std::size_t count, std::string_view request) {
        for (std::size_t client = 0; client < count; ++client) {
            clients.emplace_back(server.address()).send(request);
        }
    }

    std::atomic<std::size_t> entered{0};
    std::atomic<std::size_t> answered{0};
    std::list<RawHttpClient> clients;

  private:
    bool is_released_ = false;
    std::promise<void> release_;
    std::shared_future<void> released_ = release_.get_future().share();
};

HttpLimits unqueued() {
    HttpLimits limits = unhurried();
    limits.queue_time = std::chrono::minutes(10);
    return limits;
}

}  // namespace

TEST_CASE("health checks are answered while all other requests wait for another thread", "[gateway][http]") {
    SlowServer server(unqueued());
    server.add_clients(20, get_slow);
    REQUIRE(eventually([&] { return server.entered == 2; }));
    RawHttpClient kept = server.connect();
    for (int check = 0; check < 20; ++check) {
        CHECK(status_of(kept.send(get_livez).read_until("GET /livez.")) == 200);
        CHECK(status_of(server.connect().send(get_livez).read_until("GET /livez.")) == 200);
    }
    CHECK(server.answered == 0);
}

TEST_CASE("requests that waited for a worker are all answered", "[gateway][http]") {
    SlowServer server(unqueued());
    server.add_clients(2, get_slow);
    REQUIRE(eventually([&] { return server.entered == 2; }));
    server.add_clients(30, "GET /x HTTP/1.1\r\nHost: h\r\n\r\nGET /y HTTP/1.1\r\nHost: h\r\n\r\n");
    server.add_clients(1,
                       "POST /z HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /y HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(status_of(server.connect().send(get_livez).read_until("GET /livez.")) == 200);
    server.release();
    for (auto client = std::next(server.clients.begin(), 2); client != server.clients.end(); ++client) {
        const std::string first = client->read_until("GET /y.");
        CHECK(count_of(first, "HTTP/1.1 200") == 2);
        CHECK(count_of(first, "GET /x.") + count_of(first, "POST /z.") == 1);
    }
}

TEST_CASE("a request without a worker before its deadline is refused and counted", "[gateway][http]") {
    HttpLimits limits = unhurried();
    limits.queue_time = 10ms;
    SlowServer server(limits);
    server.add_clients(2, get_slow);
    REQUIRE(eventually([&] { return server.entered == 2; }));
    const std::string refusal = server.request(get);
    CHECK(status_of(refusal) == 503);
    CHECK(refusal.find("\r\nRetry-After: 1\r\n") != std::string::npos);
    CHECK(refusal.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(refusal.find(R"("instance":"/x")") != std::string::npos);
    CHECK(server.server.figures().requests_refused == 1);
    server.release();
    CHECK(eventually([&] { return status_of(server.request(get_and_close)) == 200; }));
}

TEST_CASE("a client that disconnects while its request waits for a worker does not affect others", "[gateway][http]") {
    SlowServer server(unqueued());
    server.add_clients(2, get_slow);
    REQUIRE(eventually([&] { return server.entered == 2; }));
    server.connect().send(get);
    server.add_clients(1, get);
    server.connect().send(get);
    CHECK(status_of(server.connect().send(get_livez).read_until("GET /livez.")) == 200);
    server.release();
    CHECK(status_of(server.clients.back().read_until("GET /x.")) == 200);
}

TEST_CASE("a request whose handler responds later occupies no worker", "[gateway][http]") {
    std::promise<HttpAnswer> pending;
    EchoServer server(
        unhurried(),
        [&](const HttpRequest& request) {
            HttpResponse response = EchoServer::echo(request);
            if (request.path == "/large") {
                response.later = [&](HttpAnswer answer) {
                    pending.set_value(std::move(answer));
                };
            }
            return response;
        },
        1);
    RawHttpClient waiting = server.connect();
    waiting.send(get_large);
    const HttpAnswer answer = pending.get_future().get();
    CHECK(status_of(server.request(get_and_close)) == 200);
    answer({200, "text/plain", "late.", {}});
    CHECK(status_of(waiting.read_until("late.")) == 200);
    CHECK(status_of(waiting.send(get).read_until("GET /x.")) == 200);
}

TEST_CASE("a server that stops waits for responses that come later", "[gateway][http]") {
    std::promise<HttpAnswer> pending;
    EchoServer server(unhurried(), [&](const HttpRequest&) {
        HttpResponse response;
        response.later = [&](HttpAnswer answer) {
            pending.set_value(std::move(answer));
        };
        return response;
    });
    RawHttpClient waiting = server.connect();
    waiting.send(get);
    const HttpAnswer answer = pending.get_future().get();
    auto stopping = std::async(std::launch::async, [&] { server.server.stop(); });
    answer({200, "text/plain", "late.", {}});
    stopping.get();
    CHECK(waiting.read_all().find("late.") != std::string::npos);
}
