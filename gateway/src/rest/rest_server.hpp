#pragma once

#include "http/http_limits.hpp"
#include "http/rest_options.hpp"
#include "rest/rest_handlers.hpp"

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// HTTP/1.1 on sockets of our own. The paths, shapes and codes are in docs/rest.md, who may do what in docs/access.md.
///
/// Threads: constructor, start() and stop() the main thread; handlers run on `tg-http` and its workers,
///          and on whichever calls status_body().
/// Limits:  see HttpLimits and RestAccessLimits; workers threads.
/// Failure: the constructor throws std::system_error when an address is taken or not ours, and std::runtime_error when
///          a file of the credentials cannot be used.
class RestServer {
  public:
    static constexpr std::size_t body_bytes_max = HttpLimits().body_bytes_max;
    /// For answers, which may have to wait for other threads; health checks are answered by the I/O thread.
    static constexpr std::size_t workers = 2;

    RestServer(RestOptions options, RestHandlers handlers);
    ~RestServer();
    RestServer(const RestServer&) = delete;
    RestServer& operator=(const RestServer&) = delete;

    /// Serves until stop(). Requests before that wait in the backlog.
    void start();
    /// From now on serves event streams and health checks only: other requests get 503. Waits for the answers in hand.
    void close();
    /// Stops by itself when no event stream is open, at the latest at that time; then `done` is called, on any thread.
    /// Threads: any, after close().
    void stop_after_streams(MonoTime until, std::function<void()> done);
    void stop();
    /// There may be something new for event streams. Threads: any; cheap enough for every batch of samples.
    void wake_streams() noexcept;
    /// The body of GET /status, at most a moment old; nullptr when the gateway did not give it in time. Threads: any
    /// but the one that the snapshot is taken on.
    [[nodiscard]] std::shared_ptr<const std::string> status_body();
    /// Reads tokens, certificate and key again, all or nothing; open connections stay. Throws std::runtime_error with
    /// the reason. Threads: any.
    CredentialsRead reload_credentials();
    /// "127.0.0.1:8080", with the real port; of a Unix socket alone "unix:PATH"; "" when there is neither.
    [[nodiscard]] const std::string& address() const noexcept;
    /// "http://127.0.0.1:8080", "https://..." and "unix:PATH": all there are.
    [[nodiscard]] std::vector<std::string> urls() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
