#pragma once

#include "http/http_limits.hpp"
#include "http/http_server.hpp"
#include "http/rest_options.hpp"
#include "rest/rest_access.hpp"
#include "rest/rest_handlers.hpp"
#include "rest/status_cache.hpp"

#include "core/clock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// The REST interface: HTTP/1.1 on its own sockets. docs/rest.md describes paths, schemas and status codes,
/// docs/access.md the permissions.
///
/// Threads: constructor, start() and stop() the main thread; handlers run on `tg-http` and its workers, and on any
/// thread that calls status_body().
/// Limits: see HttpLimits and RestAccessLimits; workers threads.
/// Failure: the constructor throws std::system_error if an address cannot be bound, and std::runtime_error if a
/// credential file cannot be used.
class RestServer {
  public:
    static constexpr std::size_t body_bytes_max = HttpLimits().body_bytes_max;
    /// Threads for handlers, which may have to wait for other threads; health checks are answered by the I/O thread.
    static constexpr std::size_t workers = 2;

    RestServer(RestOptions options, RestHandlers handlers);
    RestServer(const RestServer&) = delete;
    RestServer& operator=(const RestServer&) = delete;

    /// Serves until stop(). Earlier requests wait in the backlog.
    void start() { server_.start(); }
    /// Serves only event streams and health checks from now on: other requests get 503. Waits for the handlers that are
    /// running.
    void close();
    /// Stops when no event stream is open, at the given time at the latest, and then calls `done` on any thread.
    /// Threads: any, after close().
    void stop_after_streams(MonoTime until, std::function<void()> done) {
        server_.stop_after_streams(until, std::move(done));
    }
    void stop() { server_.stop(); }
    /// Notifies the server that event streams may have new data. Threads: any; cheap enough for every batch of samples.
    void wake_streams() noexcept { server_.wake_streams(); }
    /// Returns the body of GET /status, which is at most a short time old; nullptr if the gateway did not provide it in
    /// time. Threads: any except the one that the snapshot is taken on.
    [[nodiscard]] std::shared_ptr<const std::string> status_body() {
        return status_.get(std::chrono::steady_clock::now());
    }
    /// Reads tokens, certificate and key again, all or nothing; open connections are kept. Throws std::runtime_error
    /// with the reason. Threads: any.
    CredentialsRead reload_credentials() { return access_.reload(); }
    /// Returns the address with the actual port, "127.0.0.1:8080"; "unix:PATH" if there is only a Unix socket; "" if
    /// there is neither.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    /// Returns all addresses: "http://127.0.0.1:8080", "https://..." and "unix:PATH".
    [[nodiscard]] std::vector<std::string> urls() const { return server_.urls(); }

    /// Returns which client uses most of the connections or streams; "": none has lately. Threads: any.
    [[nodiscard]] std::string crowd() const { return server_.crowd(); }

  private:
    [[nodiscard]] HttpServerOptions server_options(RestOptions options);
    [[nodiscard]] HttpCalls calls();
    [[nodiscard]] HttpResponse answer(const HttpRequest& request);
    [[nodiscard]] StatusCache::Text render_status() const;

    std::atomic<bool> is_closed_{false};
    std::shared_mutex answering_;  // held by all handlers except health checks
    RestHandlers handlers_;        // constant while the server runs
    StatusCache status_;
    RestAccess access_;
    HttpServer server_;
    const std::string address_;
};

}  // namespace telegate
