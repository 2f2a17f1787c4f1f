#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t mib = 1024 * 1024;

HttpLimits limits_for(std::size_t responses_bytes_max) {
    HttpLimits limits = unhurried();
    limits.responses_bytes_max = responses_bytes_max;
    return limits;
}

/// GET /large has a body of 8 MiB, more than any socket buffers; any other path is echoed.
struct LargeServer : EchoServer {
    explicit LargeServer(HttpLimits limits)
        : EchoServer(limits, [](const HttpRequest& request) {
              return request.path == "/large" ? HttpResponse{200, "text/plain", std::string(8 * mib, 'x'), {}}
                                              : EchoServer::echo(request);
          }) {}

    /// A client that has requested the body, has received its start and then stops reading.
    void add_stuck_client() { stuck.emplace_back(server.address(), 4'096).send(get_large).read_until("\r\n"); }

    std::list<RawHttpClient> stuck;
};

/// Any path has a body that is created in pieces of the requested size.
struct PiecesServer : EchoServer {
    explicit PiecesServer(std::size_t body_bytes)
        : EchoServer(unhurried(), [this, body_bytes](const HttpRequest&) {
              HttpResponse response{200, "text/plain", "", {}};
              response.pieces = [this, left = body_bytes](std::string& out, std::size_t bytes_max) mutable {
                  const std::size_t bytes = std::min(left, bytes_max);
                  out.append(bytes, 'x');
                  left -= bytes;
                  made += bytes;
                  return left > 0 ? StreamState::more : StreamState::ended;
              };
              return response;
          }) {}

    std::atomic<std::size_t> made{0};
};

std::string body_of(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
}

/// Returns the content of the chunks, or "" if they do not end correctly.
std::string unchunked(const std::string& body) {
    std::string text;
    std::size_t at = 0;
    for (std::size_t end = body.find("\r\n"); end != std::string::npos; end = body.find("\r\n", at)) {
        const std::size_t bytes = std::stoul(body.substr(at, end - at), nullptr, 16);
        if (bytes == 0) {
            return body.substr(at) == "0\r\n\r\n" ? text : "";
        }
        text += body.substr(end + 2, bytes);
        at = end + 2 + bytes + 2;
    }
    return "";
}

}  // namespace

TEST_CASE("large responses that no client reads are limited together, and the next one is refused", "[gateway][http]") {
    LargeServer server(limits_for(20 * mib));
    server.add_stuck_client();
    server.add_stuck_client();
    CHECK(server.server.figures().response_bytes == 16 * mib);
    const std::string refusal = server.request(get_large);
    CHECK(status_of(refusal) == 503);
    CHECK(refusal.find("\r\nRetry-After: 1\r\n") != std::string::npos);
    CHECK(refusal.find(R"("instance":"/large")") != std::string::npos);
    CHECK(server.server.figures().responses_refused == 1);
    CHECK(server.server.figures().response_bytes == 16 * mib);
}

TEST_CASE("small responses are sent while large ones fill the limit", "[gateway][http]") {
    LargeServer server(limits_for(8 * mib));
    server.add_stuck_client();
    CHECK(status_of(server.request(get_large)) == 503);
    CHECK(status_of(server.request(get_and_close)) == 200);
}

TEST_CASE("a large response is sent after others have been read or their clients have disconnected",
          "[gateway][http]") {
    LargeServer server(limits_for(8 * mib));
    server.add_stuck_client();
    REQUIRE(status_of(server.request(get_large)) == 503);
    SECTION("read") {
        REQUIRE(server.stuck.front().read_until(std::string(8 * mib, 'x')).size() >= 8 * mib);
    }
    SECTION("gone") {
        server.stuck.clear();
    }
    CHECK(eventually([&] { return status_of(server.connect().send(get_large).read_until("\r\n")) == 200; }));
}

TEST_CASE("a response that is larger than the limit is sent if it is the only one", "[gateway][http]") {
    LargeServer server(limits_for(mib));
    CHECK(server.connect().send(get_large).read_until(std::string(8 * mib, 'x')).size() > 8 * mib);
}

TEST_CASE("a body that several clients share counts once", "[gateway][http]") {
    const auto shared = std::make_shared<const std::string>(8 * mib, 'x');
    EchoServer server(limits_for(10 * mib), [&shared](const HttpRequest&) {
        HttpResponse response{200, "text/plain", "", {}};
        response.shared_body = shared;
        return response;
    });
    std::list<RawHttpClient> stuck;
    for (int client = 0; client < 3; ++client) {
        CHECK(status_of(stuck.emplace_back(server.server.address(), 4'096).send(get_large).read_until("\r\n")) == 200);
    }
    CHECK(server.server.figures().response_bytes == 8 * mib);
    stuck.pop_front();
    CHECK(stuck.front().read_until(std::string(8 * mib, 'x')).size() > 8 * mib);
    CHECK(server.server.figures().response_bytes == 8 * mib);
}

TEST_CASE("a body in pieces arrives completely, in chunks, and the connection stays open", "[gateway][http]") {
    const std::size_t bytes = GENERATE(std::size_t{0}, std::size_t{1}, 3 * mib + 5);
    CAPTURE(bytes);
    PiecesServer server(bytes);
    RawHttpClient client = server.connect();
    const std::string first = client.send(get).read_until("\r\n0\r\n\r\n");
    CHECK(first.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos);
    CHECK(first.find("Content-Length") == std::string::npos);
    const std::string second = client.send(get_and_close).read_all();
    CHECK(unchunked(body_of(second)) == std::string(bytes, 'x'));
}

TEST_CASE("HTTP/1.0 receives a body in pieces without chunks, ended by closing the connection", "[gateway][http]") {
    PiecesServer server(3 * mib);
    const std::string answer = server.request("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(answer.find("Transfer-Encoding") == std::string::npos);
    CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(body_of(answer) == std::string(3 * mib, 'x'));
}

TEST_CASE("a body in pieces is created while it is read", "[gateway][http]") {
    constexpr std::size_t bytes = 64 * mib;
    PiecesServer server(bytes);
    RawHttpClient client = server.connect();
    client.send(get_and_close).read_until("\r\n");
    std::size_t made = 0;
    int still = 0;  // consecutive checks without a new piece
    CHECK(eventually([&] {
        still = std::exchange(made, server.made.load()) == server.made ? still + 1 : 0;
        return still == 50;
    }));
    CHECK(made < bytes / 2);
    CHECK(unchunked(body_of("\r\n" + client.read_all())).size() == bytes);
}

TEST_CASE("the response to HEAD for a body in pieces is the head only", "[gateway][http]") {
    PiecesServer server(mib);
    RawHttpClient client = server.connect();
    CHECK(status_of(client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n").read_until("\r\n\r\n")) == 200);
    CHECK(server.made == 0);
    CHECK(unchunked(body_of(client.send(get_and_close).read_all())).size() == mib);
}
