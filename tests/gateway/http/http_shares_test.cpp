#include "http/http_server.hpp"
#include "http/tls_handshakes.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <future>
#include <list>
#include <mutex>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

// The service for clients while another client, at 127.0.0.9, requests as much as it can.

namespace {

constexpr const char* hog = "127.0.0.9";
constexpr std::string_view shared_stream = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";

void add_hogs(std::list<RawHttpClient>& hogs, const std::string& address, int count, std::string_view request) {
    for (int number = 0; number < count; ++number) {
        hogs.emplace_back(address, 4'096, hog).send(request);
    }
}

/// GET /stream is an endless stream; with `is_silent`, one that always has more to look at and nothing to send.
HttpHandler streaming(bool is_silent) {
    return [is_silent](const HttpRequest& request) {
        HttpResponse response = EchoServer::echo(request);
        if (request.path == "/stream") {
            response.stream = [is_silent, begun = false](std::string& out, std::size_t) mutable {
                out += std::exchange(begun, true) || is_silent ? "" : "first";
                return is_silent ? StreamState::more : StreamState::waiting;
            };
        }
        return response;
    };
}

}  // namespace

TEST_CASE("a client with most connections makes way for others, which keep theirs", "[gateway][http][shares]") {
    HttpLimits limits = unhurried();
    limits.connections_max = 4;
    EchoServer server(limits);
    RawHttpClient resting = server.connect();
    resting.send(get).read_until("GET /x.");
    std::list<RawHttpClient> hogs;
    for (int round = 0; round < 5; ++round) {
        add_hogs(hogs, server.server.address(), 4, "GET /x HT");
        CHECK(status_of(server.request(get_and_close)) == 200);
        CHECK(status_of(resting.send(get).read_until("GET /x.")) == 200);
    }
    CHECK_THAT(server.server.crowd(), Catch::EndsWith(" of 4 connections"));
}

TEST_CASE("clients take turns at the workers", "[gateway][http][shares]") {
    std::promise<void> goes_on;
    std::mutex mutex;
    std::vector<std::string> order;
    EchoServer server(
        unhurried(),
        [&, waits = goes_on.get_future().share()](const HttpRequest& request) {
            if (EchoServer::is_livez(request.path)) {
                return EchoServer::echo(request);
            }
            {
                const std::lock_guard lock(mutex);
                order.push_back(request.peer->address);
            }
            waits.wait();
            return EchoServer::echo(request);
        },
        1);
    std::list<RawHttpClient> hogs;
    add_hogs(hogs, server.server.address(), 10, get);
    REQUIRE(eventually([&] {
        const std::lock_guard lock(mutex);
        return !order.empty();
    }));
    RawHttpClient other = server.connect();
    other.send(get);
    // The I/O thread has queued the requests before it answers this one.
    REQUIRE(status_of(server.connect().send(get_livez).read_until("GET /livez.")) == 200);
    goes_on.set_value();
    CHECK(status_of(other.read_until("GET /x.")) == 200);
    const std::lock_guard lock(mutex);
    CHECK(std::find(order.begin(), order.end(), "127.0.0.1") <= order.begin() + 2);
}

TEST_CASE("a client with all streams makes way for another", "[gateway][http][shares]") {
    HttpLimits limits = unhurried();
    limits.streams_max = 2;
    EchoServer server(limits, streaming(false));
    std::list<RawHttpClient> hogs;
    add_hogs(hogs, server.server.address(), 2, shared_stream);
    for (RawHttpClient& each : hogs) {
        CHECK(status_of(each.read_until("first")) == 200);
    }
    RawHttpClient other = server.connect();
    CHECK(status_of(other.send(shared_stream).read_until("first")) == 200);
    CHECK(hogs.back().read_all().find("first") == std::string::npos);
    CHECK_FALSE(hogs.front().has_ended());
    CHECK(status_of(RawHttpClient(server.server.address(), 0, hog).send(shared_stream).read_until("\r\n\r\n")) == 503);
    CHECK(server.server.crowd() == "127.0.0.9 has 2 of 2 event streams");
}

TEST_CASE("when clients with a stream each have all of them, the readiness says so", "[gateway][http][shares]") {
    HttpLimits limits = unhurried();
    limits.streams_max = 2;
    EchoServer server(limits, streaming(false));
    std::list<RawHttpClient> clients;
    for (const char* const source : {"127.0.0.7", "127.0.0.8"}) {
        clients.emplace_back(server.server.address(), 0, source).send(shared_stream).read_until("first");
    }
    CHECK(status_of(server.connect().send(shared_stream).read_until("\r\n\r\n")) == 503);
    CHECK(server.server.crowd() == "all 2 event streams are in use");
}

TEST_CASE("a stream that looks for something to send delays no other client", "[gateway][http][shares]") {
    EchoServer server(unhurried(), streaming(true));
    RawHttpClient stream = server.connect();
    stream.send(shared_stream).read_until("\r\n\r\n");
    CHECK(status_of(server.request(get_and_close)) == 200);
    CHECK_FALSE(stream.has_ended());
}

TEST_CASE("unread responses of one client make way for a response to another", "[gateway][http][shares]") {
    HttpLimits limits = unhurried();
    limits.stuck_after = std::chrono::milliseconds(0);
    limits.responses_bytes_max = 40 * 1024 * 1024;
    EchoServer server(limits, [](const HttpRequest& request) {
        HttpResponse response = EchoServer::echo(request);
        response.body += request.path == "/large" ? std::string(16 * 1024 * 1024, 'x') : "";
        return response;
    });
    std::list<RawHttpClient> hogs;
    for (int number = 0; number < 2; ++number) {
        add_hogs(hogs, server.server.address(), 1, get_large);
        CHECK(hogs.back().receives_within(long_enough));
    }
    RawHttpClient other = server.connect();
    CHECK(status_of(other.send(get_large).read_until("\r\n\r\n")) == 200);
    CHECK_FALSE(hogs.back().has_ended());
}

TEST_CASE("a browser neither guesses the type of a response nor embeds it in other pages", "[gateway][http][shares]") {
    EchoServer server;
    const std::string answer = server.request(get_and_close);
    CHECK(answer.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
    CHECK(answer.find("Cross-Origin-Resource-Policy: same-origin\r\n") != std::string::npos);
}

TEST_CASE("clients take turns at the thread of the TLS handshakes", "[gateway][http][shares]") {
    TlsHandshakes handshakes;
    std::promise<void> goes_on;
    std::mutex mutex;
    std::string order;
    const auto note = [&](const char* text) {
        return [&, text] {
            const std::lock_guard lock(mutex);
            order += text;
        };
    };
    handshakes.add(hog, [waits = goes_on.get_future().share()] { waits.wait(); });
    for (int number = 0; number < 5; ++number) {
        handshakes.add(hog, note("h"));
    }
    handshakes.add("127.0.0.1", note("1"));
    goes_on.set_value();
    handshakes.stop();
    CHECK((order == "1hhhhh" || order == "h1hhhh"));
}
