#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view get_stream = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";

/// The source of the streams: each stream receives everything that the test adds.
class Source {
  public:
    void put(std::string text) {
        const std::lock_guard lock(mutex_);
        text_ += text;
    }
    void end() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    HttpResponse open() {
        HttpResponse response{200, "text/event-stream", {}, {}};
        response.stream = [this, told = std::size_t{0}](std::string& out, std::size_t bytes_max) mutable {
            ++pulls;
            const std::lock_guard lock(mutex_);
            const std::string more = text_.substr(told, bytes_max);
            told += more.size();
            out += more;
            return told < text_.size() ? StreamState::more : ended_ ? StreamState::ended : StreamState::waiting;
        };
        return response;
    }
    std::atomic<std::size_t> pulls{0};

  private:
    std::mutex mutex_;
    std::string text_;
    bool ended_ = false;
};

std::chrono::microseconds processor_time() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct StreamServer : Source, EchoServer {
    explicit StreamServer(HttpLimits limits = {})
        : EchoServer(limits, [this](const HttpRequest& request) {
              return request.path == "/stream" ? open() : EchoServer::echo(request);
          }) {}
};

}  // namespace

TEST_CASE("a stream sends available data at once, and more when it is woken", "[gateway][http][stream]") {
    StreamServer streams;
    streams.put("one\n\n");
    RawHttpClient client = streams.connect();
    const std::string head = client.send(get_stream).read_until("\r\n\r\n");
    CHECK(head.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
    CHECK(head.find("Content-Length") == std::string::npos);
    CHECK(client.read_until("\n\n\r\n") == "5\r\none\n\n\r\n");
    streams.put("two\n\n");
    streams.server.wake_streams();
    CHECK(client.read_until("\n\n\r\n") == "5\r\ntwo\n\n\r\n");
}

TEST_CASE("many wake-ups cause few pulls", "[gateway][http][stream]") {
    StreamServer streams;
    streams.put("one\n\n");
    RawHttpClient client = streams.connect();
    client.send(get_stream).read_until("one\n\n\r\n");
    const auto begin = std::chrono::steady_clock::now();
    std::size_t wakes = 0;
    for (; wakes < 1'000 || std::chrono::steady_clock::now() - begin < 200ms; ++wakes) {
        streams.server.wake_streams();
    }
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    CHECK(streams.pulls < static_cast<std::size_t>(elapsed / 10ms) + 10);  // 20 ms apart
}

TEST_CASE("a stream that ends closes its connection properly", "[gateway][http][stream]") {
    StreamServer streams;
    streams.put("one\n\n");
    streams.end();
    CHECK(streams.request(get_stream).ends_with("5\r\none\n\n\r\n0\r\n\r\n"));
}

TEST_CASE("HTTP/1.0 receives a stream without chunks, ended by closing the connection", "[gateway][http][stream]") {
    StreamServer streams;
    streams.put("one\n\n");
    streams.end();
    const std::string answer = streams.request("GET /stream HTTP/1.0\r\n\r\n");
    CHECK(answer.find("Transfer-Encoding") == std::string::npos);
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
    CHECK(answer.ends_with("\r\n\r\none\n\n"));
}

TEST_CASE("the response to HEAD for a stream is the head only", "[gateway][http][stream]") {
    StreamServer streams;
    RawHttpClient client = streams.connect();
    CHECK(status_of(client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n").read_until("\r\n\r\n")) == 200);
    CHECK(status_of(client.send(get_and_close).read_all()) == 200);
    CHECK(streams.pulls == 0);
}

TEST_CASE("a stream without data sends keep-alive comments", "[gateway][http][stream]") {
    HttpLimits limits;
    limits.stream_silence = 30ms;
    limits.idle_time = limits.response_time = 10ms;  // do not apply to streams
    StreamServer streams(limits);
    RawHttpClient client = streams.connect();
    client.send(get_stream).read_until("\r\n\r\n");
    for (int comment = 0; comment < 3; ++comment) {
        CHECK(client.read_until("\n\n\r\n") == "e\r\n: keep-alive\n\n\r\n");
    }
}

TEST_CASE("a stream whose client does not read is not pulled from and is closed after a while",
          "[gateway][http][stream]") {
    HttpLimits limits;
    limits.stream_stall = 100ms;
    limits.streams_max = 1;
    StreamServer streams(limits);
    const std::string large(32 * 1024 * 1024, 'x');
    streams.put(large);
    RawHttpClient client = streams.connect(4'096);
    client.send(get_stream).read_until("\r\n\r\n");
    CHECK(
        eventually([&streams] { return status_of(streams.connect().send(get_stream).read_until("\r\n\r\n")) == 200; }));
    CHECK(client.read_all().size() < large.size() / 2);
}

TEST_CASE("a stream whose client does not read keeps no worker busy", "[gateway][http][stream]") {
    HttpLimits limits;
    limits.stream_silence = 10ms;
    limits.stream_stall = 500ms;
    limits.streams_max = 1;
    StreamServer streams(limits);
    streams.put(std::string(16 * 1024 * 1024, 'x'));
    RawHttpClient client = streams.connect(4'096);
    client.send(get_stream).read_until("\r\n\r\n");
    std::size_t pulls = 0;
    int still = 0;  // consecutive checks without another pull
    CHECK(eventually([&] {
        still = std::exchange(pulls, streams.pulls.load()) == streams.pulls ? still + 1 : 0;
        return still == 50;
    }));
    const auto begin = std::chrono::steady_clock::now();
    const auto before = processor_time();
    CHECK(eventually([&] { return streams.server.streams() == 0; }));
    CHECK(processor_time() - before < (std::chrono::steady_clock::now() - begin) / 2 + 20ms);
}

TEST_CASE("a stream beyond the limit is refused with Retry-After until another stream ends",
          "[gateway][http][stream]") {
    HttpLimits limits;
    limits.streams_max = 1;
    StreamServer streams(limits);
    auto first = std::make_unique<RawHttpClient>(streams.server.address());
    first->send(get_stream).read_until("\r\n\r\n");
    const std::string refusal = streams.request(get_stream);
    CHECK(status_of(refusal) == 503);
    CHECK(refusal.find("Retry-After: 1\r\n") != std::string::npos);
    CHECK(refusal.find("streams_max") != std::string::npos);
    CHECK(refusal.find(R"("instance":"/stream")") != std::string::npos);
    first.reset();
    CHECK(eventually([&streams] {
        RawHttpClient again(streams.server.address());
        return status_of(again.send(get_stream).read_until("\r\n\r\n")) == 200;
    }));
}

TEST_CASE("streams do not count as connections and are not closed for them", "[gateway][http][stream]") {
    HttpLimits limits;
    limits.connections_max = 2;  // the previous one may still be closing
    StreamServer streams(limits);
    std::list<RawHttpClient> clients;
    for (int client = 0; client < 4; ++client) {
        clients.emplace_back(streams.server.address()).send(get_stream).read_until("\r\n\r\n");
    }
    CHECK(status_of(streams.request(get_and_close)) == 200);
    CHECK(status_of(streams.request(get_and_close)) == 200);
    streams.put("one\n\n");
    streams.server.wake_streams();
    for (RawHttpClient& client : clients) {
        CHECK(client.read_until("one\n\n\r\n").ends_with("one\n\n\r\n"));
    }
}

TEST_CASE("a stop ends streams properly", "[gateway][http][stream]") {
    StreamServer streams;
    RawHttpClient client = streams.connect();
    client.send(get_stream).read_until("\r\n\r\n");
    streams.server.stop();
    CHECK(client.read_all() == "0\r\n\r\n");
}

TEST_CASE("a server stops by itself when the last stream has ended", "[gateway][http][stream]") {
    StreamServer streams;
    streams.put("one\n\n");
    RawHttpClient client = streams.connect();
    client.send(get_stream).read_until("one\n\n\r\n");
    std::atomic<bool> stopped{false};
    streams.server.stop_after_streams(std::chrono::steady_clock::now() + long_enough, [&] { stopped = true; });
    CHECK(status_of(streams.request(get_and_close)) == 200);
    CHECK_FALSE(stopped);
    streams.put("two\n\n");
    streams.end();
    streams.server.wake_streams();
    CHECK(client.read_all() == "5\r\ntwo\n\n\r\n0\r\n\r\n");
    CHECK(eventually([&] { return stopped.load(); }));
    CHECK_THROWS(streams.connect());
}

TEST_CASE("a server without streams stops at once, otherwise at the given time at the latest",
          "[gateway][http][stream]") {
    StreamServer streams;
    RawHttpClient client = streams.connect();
    const bool has_stream = GENERATE(false, true);
    client.send(has_stream ? get_stream : get).read_until("\r\n\r\n");
    std::atomic<bool> stopped{false};
    const auto until = std::chrono::steady_clock::now() + (has_stream ? 10ms : long_enough);
    streams.server.stop_after_streams(until, [&] { stopped = true; });
    CHECK(eventually([&] { return stopped.load(); }));
    CHECK((std::chrono::steady_clock::now() >= until) == has_stream);
}

TEST_CASE("a server that has stopped or never started reports it at once", "[gateway][http][stream]") {
    bool stopped = false;
    SECTION("stopped") {
        StreamServer streams;
        streams.server.stop();
        streams.server.stop_after_streams(MonoTime(), [&] { stopped = true; });
    }
    SECTION("never started") {
        HttpServer server({"127.0.0.1", 0, 2, {}}, {EchoServer::echo});
        server.stop_after_streams(MonoTime(), [&] { stopped = true; });
    }
    CHECK(stopped);
}

TEST_CASE("a stream whose source fails ends without affecting others", "[gateway][http][stream]") {
    EchoServer server({}, [](const HttpRequest& request) {
        HttpResponse response = EchoServer::echo(request);
        if (request.path == "/stream") {
            response.stream = [](std::string&, std::size_t) -> StreamState {
                throw std::runtime_error("broken");
            };
        }
        return response;
    });
    RawHttpClient client = server.connect();
    client.send(get_stream).read_until("\r\n\r\n");
    CHECK(client.closed_by_server());
    CHECK(status_of(server.request(get_and_close)) == 200);
}
