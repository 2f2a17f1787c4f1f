#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "http/http_driver.hpp"
#include "network/host_finder.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace telegate::http {

struct Url {
    bool is_tls = false;
    network::HostPort server = {};
    std::string target = {};  // path and query; begins with /
    std::string shown = {};   // without the query, which may contain secrets
};

/// Parses a URL. Throws std::invalid_argument with the text and what is allowed.
[[nodiscard]] Url parse_url(std::string_view text);

struct Answer {
    Woken woken = Woken::ready;
    std::string fault = {};      // if woken is ready: why there is no body; "": there is one
    std::string_view body = {};  // valid until the next request
    bool is_openmetrics = false;
};

/// Sends the same request to a server repeatedly, over a persistent connection if the server allows it. Redirects are
/// not followed, because the token must not be sent to another server.
///
/// Threads: one.
/// Limits: response_bytes_max for the body; those of ResponseReader.
/// Failure: the constructor throws std::invalid_argument for an invalid URL; get() returns why there is no response.
class HttpRequest {
  public:
    explicit HttpRequest(const HttpDriverOptions& options);
    ~HttpRequest();
    HttpRequest(const HttpRequest&) = delete;
    HttpRequest& operator=(const HttpRequest&) = delete;

    [[nodiscard]] Answer get(const CancelSignal* cancel, MonoTime until);
    /// Closes the connection, if there is one.
    void close() noexcept;

  private:
    class Connection;

    [[nodiscard]] std::string read_token() const;

    const HttpDriverOptions options_;
    const Url url_;
    network::HostFinder lookup_;
    std::unique_ptr<Connection> connection_;
    std::string body_;
};

}  // namespace telegate::http
