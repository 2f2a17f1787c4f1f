#include "http/http_server.hpp"

#include "gateway/http/echo_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

TEST_CASE("a connection serves one request after another", "[gateway][http]") {
    EchoServer server;
    RawHttpClient client = server.connect();
    CHECK(status_of(client.send(get).read_until("GET /x.")) == 200);
    CHECK(status_of(client.send(get).read_until("GET /x.")) == 200);
}

TEST_CASE("a request is parsed correctly however its bytes are split", "[gateway][http]") {
    EchoServer server;
    RawHttpClient client = server.connect();
    for (const char byte : get_and_close) {
        client.send(std::string_view(&byte, 1));
    }
    CHECK(status_of(client.read_all()) == 200);
}

TEST_CASE("pipelined requests are answered in order", "[gateway][http]") {
    EchoServer server;
    std::string requests;
    for (int request = 0; request < 100; ++request) {
        requests += "GET /" + std::to_string(request) + " HTTP/1.1\r\nHost: h\r\n\r\n";
    }
    const std::string answers = server.request(requests + std::string(get_and_close));
    CHECK(count_of(answers, "HTTP/1.1 200") == 101);
    CHECK(answers.find("GET /41.") < answers.find("GET /42."));
    CHECK(answers.find("GET /99.") != std::string::npos);
}

TEST_CASE("empty lines before a request are skipped", "[gateway][http]") {
    EchoServer server;
    CHECK(status_of(server.request("\r\n\r\n" + std::string(get_and_close))) == 200);
}

TEST_CASE("a body is skipped, not parsed as the next request", "[gateway][http]") {
    const std::string method = GENERATE("POST", "GET", "DELETE", "PUT");
    CAPTURE(method);
    EchoServer server;
    const std::string body = "GET /body HTTP/1.1\r\n\r\n";
    const std::string head =
        method + " /head HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    const std::string answers = server.request(head + body + std::string(get_and_close));
    CHECK(count_of(answers, "HTTP/1.1 ") == 2);
    CHECK(answers.find("GET /body") == std::string::npos);
}

TEST_CASE("the body of a method with a body reaches the handler", "[gateway][http]") {
    const std::string method = GENERATE("POST", "PUT", "PATCH");
    CAPTURE(method);
    EchoServer server({}, [](const HttpRequest& request) {
        return HttpResponse{200, "", std::string(request.body), {}};
    });
    const std::string body(200'000, 'b');
    RawHttpClient client = server.connect();
    client.send(method + " /x HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + body +
                std::string(get_and_close));
    const std::string answers = client.read_all();
    CHECK(answers.find("\r\n\r\n" + body + "HTTP/1.1 200") != std::string::npos);
}

TEST_CASE("the body of a method without a body is discarded", "[gateway][http]") {
    const std::string method = GENERATE("GET", "HEAD", "DELETE", "OPTIONS");
    CAPTURE(method);
    std::string seen = "none";
    EchoServer server({}, [&seen](const HttpRequest& request) {
        seen = std::string(request.body);
        return HttpResponse{200, "", "", {}};
    });
    CHECK(status_of(server.request(
              method + " /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab")) == 200);
    CHECK(seen.empty());
}

TEST_CASE("a client that expects 100 Continue receives it, and its connection stays open", "[gateway][http]") {
    EchoServer server({}, [](const HttpRequest& request) {
        return HttpResponse{200, "", std::string(request.body), {}};
    });
    RawHttpClient client = server.connect();
    client.send("POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(client.send("hello").read_until("hello").starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(status_of(client.send(get_and_close).read_all()) == 200);
}

TEST_CASE("a client that expects 100 Continue for a body that is too long is refused at once", "[gateway][http]") {
    EchoServer server;
    const std::string answer =
        server.request("POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n");
    CHECK(status_of(answer) == 413);
    CHECK(answer.find("Connection: close") != std::string::npos);
}

TEST_CASE("an absolute target sets the path and the host", "[gateway][http]") {
    EchoServer server({}, [](const HttpRequest& request) {
        return HttpResponse{200, "", std::string(request.path) + '@' + std::string(request.field("host")), {}};
    });
    const std::string answer = server.request("GET http://a:80/x HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n");
    CHECK(answer.ends_with("/x@a:80"));
}

TEST_CASE("the values of repeated fields are joined into a list", "[gateway][http]") {
    EchoServer server({}, [](const HttpRequest& request) {
        return HttpResponse{200, "", std::string(request.field("accept")), {}};
    });
    CHECK(server.request("GET /x HTTP/1.1\r\nHost: h\r\nAccept: a\r\nConnection: close\r\nACCEPT:  b \r\n\r\n")
              .ends_with("\r\n\r\na, b"));
}

TEST_CASE("a path and its percent-encoded form are equivalent", "[gateway][http]") {
    EchoServer server;
    const std::string plain = server.request(get_and_close);
    CHECK(server.request("GET /%78?a=b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n") == plain);
}

TEST_CASE("the response to HEAD is the head of GET without a body", "[gateway][http]") {
    const std::string path = GENERATE("/x", "/%78");
    CAPTURE(path);
    EchoServer server;
    const std::string fields = " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    const std::string answer = server.request("GET " + path + fields);
    const std::string head = server.request("HEAD " + path + fields);
    CHECK(head.ends_with("\r\n\r\n"));
    CHECK(head.find("Content-Length: 8\r\n") != std::string::npos);  // of "HEAD /x."
    CHECK(answer.find("Content-Length: 7\r\n") != std::string::npos);
}

TEST_CASE("an HTTP/1.0 request is answered and the connection closes", "[gateway][http]") {
    EchoServer server;
    CHECK(status_of(server.request("GET /x HTTP/1.0\r\n\r\n")) == 200);
}

TEST_CASE("HTTP/1.0 with keep-alive keeps the connection open and says so", "[gateway][http]") {
    EchoServer server;
    RawHttpClient client = server.connect();
    for (int request = 0; request < 2; ++request) {
        client.send("GET /x HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        CHECK(client.read_until("GET /x.").find("Connection: keep-alive\r\n") != std::string::npos);
    }
}

TEST_CASE("an exception in the handler becomes status 500 without its text", "[gateway][http]") {
    EchoServer server({}, [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("/etc/secret"); });
    const std::string answer = server.request(get_and_close);
    CHECK(status_of(answer) == 500);
    CHECK(answer.find("secret") == std::string::npos);
}

TEST_CASE("a large response arrives completely", "[gateway][http]") {
    const std::string large(8 * 1024 * 1024, 'x');
    EchoServer server({}, [&large](const HttpRequest&) { return HttpResponse{200, "text/plain", large + '.', {}}; });
    const std::string answer = server.connect(4'096).send(get_and_close).read_all();
    CHECK(answer.size() - answer.find("\r\n\r\n") - 4 == large.size() + 1);
}

TEST_CASE("a stop does not wait for idle clients", "[gateway][http]") {
    EchoServer server(unhurried());
    RawHttpClient idle = server.connect();
    idle.send(get).read_until("GET /x.");
    RawHttpClient half = server.connect();
    half.send("GET /x HT");
    const auto begin = std::chrono::steady_clock::now();
    server.server.stop();
    CHECK(std::chrono::steady_clock::now() - begin < long_enough);
    CHECK(idle.closed_by_server());
}

TEST_CASE("a stop waits for the response in progress", "[gateway][http]") {
    std::promise<void> entered;
    std::promise<void> leave;
    EchoServer server({}, [&](const HttpRequest& request) {
        entered.set_value();
        leave.get_future().wait();
        return EchoServer::echo(request);
    });
    RawHttpClient client = server.connect();
    client.send(get);
    entered.get_future().wait();
    auto stopped = std::async(std::launch::async, [&server] { server.server.stop(); });
    leave.set_value();
    CHECK(status_of(client.read_all()) == 200);
    stopped.wait();
}

TEST_CASE("a server that was never started can be stopped", "[gateway][http]") {
    HttpServer server({"127.0.0.1", 0, 2, {}}, {EchoServer::echo});
    server.stop();
    CHECK_THROWS(RawHttpClient(server.address()));
}

TEST_CASE("a client that connects before the start is served afterwards", "[gateway][http]") {
    HttpServer server({"127.0.0.1", 0, 2, {}}, {EchoServer::echo});
    RawHttpClient client(server.address());
    client.send(get_and_close);
    server.start();
    CHECK(status_of(client.read_all()) == 200);
}

TEST_CASE("localhost means 127.0.0.1, and other host names are refused", "[gateway][http]") {
    CHECK(HttpServer({"localhost", 0, 1, {}}, {EchoServer::echo}).address().starts_with("127.0.0.1:"));
    CHECK_THROWS_AS(HttpServer({"example.org", 0, 1, {}}, {EchoServer::echo}), std::system_error);
}

TEST_CASE("IPv6 is served if the machine supports it", "[gateway][http]") {
    try {
        const HttpServer server({"::1", 0, 1, {}}, {EchoServer::echo});
        CHECK(server.address().starts_with("[::1]:"));
    } catch (const std::system_error& error) {
        CHECK(error.code() != std::errc::address_in_use);  // a machine without IPv6
    }
}

TEST_CASE("many clients at once are all answered", "[gateway][http]") {
    EchoServer server;
    std::vector<std::future<std::size_t>> clients;
    for (int client = 0; client < 8; ++client) {
        clients.push_back(std::async(std::launch::async, [&server] {
            std::size_t answered = 0;
            for (int request = 0; request < 50; ++request) {
                answered += status_of(server.request(get_and_close)) == 200 ? 1U : 0U;
            }
            return answered;
        }));
    }
    for (auto& client : clients) {
        CHECK(client.get() == 50);
    }
}
