#pragma once

#include "base/rate_limit.hpp"
#include "http/http_message.hpp"
#include "http/rest_options.hpp"
#include "http/tls_context.hpp"
#include "status/reload_report.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Authenticates clients and decides whether a request is accepted. Described in docs/access.md.
///
/// Threads: any.
/// Limits: see RestAccessLimits.
/// Failure: the constructor and reload() throw std::runtime_error with the reason; a failed reload() changes nothing.
class RestAccess {
  public:
    explicit RestAccess(RestCredentialPaths paths, RestAccessLimits limits = {});

    [[nodiscard]] HttpIdentity identify(const HttpPeer& peer, std::string_view authorization);
    /// Returns a refusal if the request may come from a foreign web page or exceeds the rate limit.
    [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& request);
    /// Returns a refusal that replaces a 401 if the peer's address has sent too many invalid tokens.
    [[nodiscard]] std::optional<HttpResponse> refuse_guess(const HttpRequest& request);
    /// Reads all files again. Returns whether their content has changed.
    CredentialsRead reload();
    /// Returns the context for new connections; nullptr: no TLS.
    [[nodiscard]] std::shared_ptr<const TlsContext> tls() const;

  private:
    [[nodiscard]] std::shared_ptr<const RestCredentials> credentials() const;
    [[nodiscard]] std::optional<HttpResponse> refuse_foreign(const HttpRequest& request) const;

    const RestCredentialPaths paths_;
    const RestAccessLimits limits_;
    mutable std::mutex mutex_;  // guards the members below
    std::shared_ptr<const RestCredentials> credentials_;
    RateLimits changes_;   // by client and path of the API
    RateLimits failures_;  // by client
};

/// Returns a refusal if the request's role is too low: 401 if the client is not authenticated, 403 otherwise. Threads:
/// any.
[[nodiscard]] std::optional<HttpResponse> refuse_unless_allowed(const HttpRequest& request, HttpRole needed);

/// Returns whether a request may change something.
[[nodiscard]] bool is_change(const HttpRequest& request) noexcept;

}  // namespace telegate
