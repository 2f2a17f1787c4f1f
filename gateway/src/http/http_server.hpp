#pragma once

#include "http/http_budget.hpp"
#include "http/http_limits.hpp"
#include "http/http_message.hpp"
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
    std::uint16_t port = 0;          // 0: any free port
    std::size_t workers = 2;         // threads that run handlers, at least one
    HttpLimits limits{};
    std::string unix_socket = {};  // a path; "": none
    int adopted_socket = -1;       // a listening socket, used instead of host and port; -1: none
    /// Returns the context for TLS connections; called for each TCP client. Unset or nullptr: no TLS.
    std::function<std::shared_ptr<const TlsContext>()> tls = {};
};

/// An HTTP/1.1 server. One I/O thread owns all connections: it reads requests, handles prioritized ones, and sends
/// responses and streams. Workers handle the other requests, one at a time each and in order of arrival; they may wait
/// for other threads. A client that is idle or slow holds only a descriptor, until its deadline.
///
/// Threads: constructor, start() and stop() the main thread; `tg-http` for I/O, `tg-http-0` and up the workers.
/// Limits: see HttpLimits. When connections_max are open, the one with the lowest claim is closed for a new one.
/// Failure: the constructor and start() throw std::system_error. After that, every failure ends one connection only.
class HttpServer {
  public:
    /// Listens; clients wait in the backlog of the kernel until start().
    HttpServer(HttpServerOptions options, HttpCalls calls);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();
    /// Waits for the handlers that are running, then closes everything. Idempotent.
    void stop();
    /// Stops when no event stream is open, at `until` at the latest, and then calls `done` on the I/O thread; calls it
    /// immediately if the server is not running. Threads: any, after start().
    void stop_after_streams(MonoTime until, std::function<void()> done);
    /// Notifies the server that event streams may have new data. Costs one or two atomic reads, and at most one system
    /// call per pull interval. Threads: any.
    void wake_streams() noexcept;
    /// Returns the number of open streams. Threads: any.
    [[nodiscard]] std::size_t streams() const noexcept;
    [[nodiscard]] HttpFigures figures() const;
    /// See HttpBudget::crowd(). Threads: any.
    [[nodiscard]] std::string crowd() const;
    /// Returns the address of the first listener, "" if there is none.
    [[nodiscard]] std::string address() const;
    /// Returns the URL of each listener: "http://127.0.0.1:8080", "https://..." or "unix:/run/x.sock".
    [[nodiscard]] std::vector<std::string> urls() const;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
