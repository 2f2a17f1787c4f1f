#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "http/url.hpp"
#include "network/host_lookup.hpp"
#include "network/wait.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace telegate::http {

struct RequestOptions {
    std::string url = {};
    std::string accept = {};  // media types
    std::size_t response_bytes_max = 0;
    std::string token_file = {};  // "": none
    std::string ca_file = {};     // "": certificates of the system
};

struct Answer {
    network::Woken woken = network::Woken::ready;
    std::string fault = {};      // with ready: why there is no body; "": there is one
    std::string_view body = {};  // valid until the next request
    bool is_openmetrics = false;
};

/// Asks one server for one thing again and again, over a connection that is kept where the server allows it. Redirects
/// are not followed, since the token must not go to another server.
///
/// Threads: one; each request is made by a thread of its own, `tg-get`, which ends before get() returns.
/// Limits:  response_bytes_max for the body; 100 header fields of 8 KiB each.
/// Failure: the constructor throws std::invalid_argument for a bad URL; get() returns why there is no answer.
class HttpRequest {
  public:
    explicit HttpRequest(RequestOptions options);
    ~HttpRequest();
    HttpRequest(const HttpRequest&) = delete;
    HttpRequest& operator=(const HttpRequest&) = delete;

    [[nodiscard]] Answer get(const CancelSignal* cancel, MonoTime until);
    /// Closes the connection, if there is one.
    void close() noexcept;

  private:
    class Connection;

    [[nodiscard]] std::string read_token();

    const RequestOptions options_;
    const Url url_;
    network::HostLookup lookup_;
    std::unique_ptr<Connection> connection_;
    std::string body_;
};

}  // namespace telegate::http
