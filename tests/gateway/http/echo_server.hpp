#pragma once

#include "http/http_server.hpp"

#include "gateway/http/raw_http_client.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

inline constexpr std::string_view get = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";
inline constexpr std::string_view get_large = "GET /large HTTP/1.1\r\nHost: h\r\n\r\n";
inline constexpr std::string_view get_livez = "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n";
inline constexpr std::string_view get_and_close = "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

/// Long deadlines: a test that uses them never waits for a phase to expire.
inline HttpLimits unhurried() {
    HttpLimits limits;
    limits.request_time = limits.response_time = limits.idle_time = limits.stuck_after = std::chrono::minutes(10);
    return limits;
}

/// A server that responds to every request with its method and path. GET /livez is prioritized.
struct EchoServer {
    explicit EchoServer(HttpLimits limits = {}, HttpHandler handler = echo, std::size_t workers = 2)
        : server({"127.0.0.1", 0, workers, limits}, {.handler = std::move(handler), .goes_first = is_livez}) {
        server.start();
    }
    static HttpResponse echo(const HttpRequest& request) {
        return {200, "text/plain", std::string(request.method) + ' ' + std::string(request.path) + '.', {}};
    }
    static bool is_livez(std::string_view path) { return path == "/livez"; }
    RawHttpClient connect(int receive_bytes = 0) { return RawHttpClient(server.address(), receive_bytes); }
    std::string request(std::string_view bytes) { return connect().send(bytes).read_all(); }

    HttpServer server;
};

inline int status_of(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9)) : 0;
}

inline std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

}  // namespace telegate::test
