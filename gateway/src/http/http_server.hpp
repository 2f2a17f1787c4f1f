#pragma once

#include "http/http_budget.hpp"
#include "http/http_calls.hpp"
#include "http/http_limits.hpp"
#include "http/tls_context.hpp"

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

struct HttpServerOptions {
    std::string host = "127.0.0.1";  // "": no TCP
    std::uint16_t port = 0;          // 0: any free one
    std::size_t workers = 2;         // threads for answers, one at least
    HttpLimits limits{};
    std::string unix_socket = {};  // a path; "": none
    int adopted_socket = -1;       // one that listens already, in place of host and port; -1: none
    /// What TLS connections are made with, asked for each TCP client; none or nullptr: no TLS.
    std::function<std::shared_ptr<const TlsContext>()> tls = {};
};

/// Serves HTTP/1.1. One I/O thread owns all connections: it reads requests, answers those that go first, sends answers
/// and streams. Other answers are made by workers, one request each, in the order in which the requests came; they may
/// wait for other threads. A client that is idle, slow to ask or slow to read holds a descriptor until its deadline.
///
/// Threads: constructor, start() and stop() the main thread; `tg-http` for I/O, `tg-http-0` and up the workers.
/// Limits:  see HttpLimits. When connections_max are open, the one with the least claim gives way to a new one.
/// Failure: the constructor and start() throw std::system_error or std::bad_alloc; after that every failure, lack of
/// memory too, ends one connection only.
class HttpServer {
  public:
    /// Listens; clients wait in the kernel's backlog until start().
    HttpServer(HttpServerOptions options, HttpCalls calls);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();
    /// Lets every worker finish the answer in hand, then closes everything. Idempotent.
    void stop();
    /// Stops by itself when no event stream is open, at the latest at that time, and calls `done` on the I/O thread at
    /// its end; at once when it does not run. Threads: any, after start().
    void stop_after_streams(MonoTime until, std::function<void()> done);
    /// There may be something new to pull for event streams. Threads: any; a look at one or two numbers, and at most
    /// one system call for each time that the streams are served.
    void wake_streams() noexcept;
    /// Open now. Threads: any.
    [[nodiscard]] std::size_t streams() const noexcept;
    [[nodiscard]] HttpFigures figures() const;
    /// Of the first listener; "" when there is none.
    [[nodiscard]] std::string address() const;
    /// "http://127.0.0.1:8080", "https://..." or "unix:/run/x.sock", of each listener.
    [[nodiscard]] std::vector<std::string> urls() const;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
