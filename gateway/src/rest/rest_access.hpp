#pragma once

#include "base/rate_limit.hpp"
#include "http/http_calls.hpp"
#include "http/rest_credentials.hpp"
#include "http/rest_options.hpp"
#include "http/tls_context.hpp"
#include "status/reload_report.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Decides who a client is and whether its request is heard at all. docs/access.md is its description.
///
/// Threads: any.
/// Limits:  see RestAccessLimits.
/// Failure: the constructor and reload() throw std::runtime_error with the reason; then reload() has changed nothing.
class RestAccess {
  public:
    explicit RestAccess(RestCredentialPaths paths, RestAccessLimits limits = {});

    [[nodiscard]] HttpIdentity identify(const HttpPeer& peer, std::string_view authorization);
    /// The refusal of a request that may come from a web page that somebody else made, or comes too often.
    [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& request);
    /// For a request that a 401 is due to: the refusal instead when its address has shown too many wrong tokens.
    [[nodiscard]] std::optional<HttpResponse> refuse_guess(const HttpRequest& request);
    /// Reads all files again; says whether they hold something else.
    CredentialsRead reload();
    /// What new connections are made with; nullptr: no TLS.
    [[nodiscard]] std::shared_ptr<const TlsContext> tls() const;

  private:
    [[nodiscard]] std::shared_ptr<const RestCredentials> credentials() const;
    [[nodiscard]] bool fails_too_often(const std::string& address);
    [[nodiscard]] std::optional<HttpResponse> refuse_foreign(const HttpRequest& request) const;

    const RestCredentialPaths paths_;
    const RestAccessLimits limits_;
    mutable std::mutex mutex_;  // guards the rest
    std::shared_ptr<const RestCredentials> credentials_;
    RateLimit changes_;
    std::map<std::string, RateLimit> failures_;  // by address
};

/// The refusal of a request whose role is too small: 401 when nobody knows who asks, 403 otherwise. Threads: any.
[[nodiscard]] std::optional<HttpResponse> refuse_unless_allowed(const HttpRequest& request, HttpRole needed);

/// Whether a request may change something.
[[nodiscard]] bool is_change(const HttpRequest& request) noexcept;

}  // namespace telegate
