#pragma once

#include "rest_handlers.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

struct RestOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 8080;  // 0: any free one
};

/// HTTP/1.1 on cpp-httplib. The paths, shapes and codes are in docs/rest.md.
///
/// Threads: constructor and stop() the main thread; handlers run on a fixed few `tg-http` threads.
/// Limits:  request bodies of at most body_bytes_max; workers threads; keep-alive and read timeouts bound idle peers.
/// Failure: the constructor throws std::system_error when the address is taken or not ours.
class RestServer {
  public:
    static constexpr std::size_t body_bytes_max = 64 * 1024;
    static constexpr std::size_t workers = 2;

    RestServer(RestOptions options, RestHandlers handlers);
    ~RestServer();
    RestServer(const RestServer&) = delete;
    RestServer& operator=(const RestServer&) = delete;

    /// Serves until stop(). Requests before that wait in the backlog.
    void start();
    void stop();
    /// There may be something new for event streams. Threads: any; cheap enough for every batch of samples.
    void wake_streams() noexcept;
    /// "127.0.0.1:8080", with the real port.
    [[nodiscard]] const std::string& address() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
