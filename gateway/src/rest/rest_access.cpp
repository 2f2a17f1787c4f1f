#include "rest/rest_access.hpp"

#include "core/text.hpp"
#include "http/http_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_table.hpp"
#include "rest/rest_traffic.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view bearer = "Bearer ";
constexpr std::string_view stream_path = "/stream";
constexpr std::array<std::string_view, 4> changing{"POST", "PUT", "PATCH", "DELETE"};

HttpResponse too_often(const HttpRequest& request, std::string detail) {
    HttpResponse response = refused(request, 429, std::move(detail));
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

/// Returns whether the page that sent a request came from this server: the origin is "http://HOST:PORT" with the
/// request's Host.
bool is_own_origin(std::string_view origin, std::string_view host) {
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos && equal_ignoring_case(origin.substr(scheme + 3), host);
}

/// Returns whether a browser states that a page of another origin makes the request, other than by a link to a page.
/// Frames do not count as links: a page can have any number of them.
bool is_embedded_elsewhere(const HttpRequest& request) {
    const std::string_view site = field_of(request, "Sec-Fetch-Site");
    const bool is_link =
        field_of(request, "Sec-Fetch-Mode") == "navigate" && field_of(request, "Sec-Fetch-Dest") == "document";
    return (site == "cross-site" || site == "same-site") && !(is_link && request.path != stream_path);
}

}  // namespace

RestAccess::RestAccess(RestCredentialPaths paths, RestAccessLimits limits)
    : paths_(std::move(paths)),
      limits_(limits),
      credentials_(std::make_shared<const RestCredentials>(paths_)),
      changes_(limits.changes, limits.changers_max),
      failures_(limits.failures, limits.addresses_max) {}

HttpIdentity RestAccess::identify(const HttpPeer& peer, std::string_view authorization) {
    const auto known = credentials();
    if (known->tokens && !authorization.empty()) {
        const bool right_form = equal_ignoring_case(authorization.substr(0, bearer.size()), bearer);
        const std::size_t token = std::min(authorization.find_first_not_of(' ', bearer.size()), authorization.size());
        const auto* const holder = right_form ? known->tokens->find(authorization.substr(token)) : nullptr;
        return holder != nullptr ? HttpIdentity{holder->role, holder->name}
                                 : HttpIdentity{HttpRole::none, peer.address};
    }
    if (peer.uid) {
        const bool ours = *peer.uid == ::geteuid() || *peer.uid == 0;
        return {ours ? HttpRole::admin : HttpRole::reader, "uid=" + std::to_string(*peer.uid)};
    }
    if (!peer.certificate.empty()) {
        return {HttpRole::admin, "cn=" + peer.certificate};
    }
    const bool open = !known->tokens && !known->knows_clients && is_loopback(peer.address);
    return {open ? HttpRole::admin : HttpRole::none, peer.address};
}

std::optional<HttpResponse> RestAccess::refuse(const HttpRequest& request) {
    if (auto foreign = refuse_foreign(request)) {
        return foreign;
    }
    if (!is_change(request) || request.role != HttpRole::admin) {
        return std::nullopt;
    }
    const RestMatch match = find_path(request.path);
    const std::string key =
        client_of(request.who) + ' ' + std::to_string(match.found ? match.row : RestTraffic::no_row);
    const std::lock_guard lock(mutex_);
    return changes_.try_acquire(key, std::chrono::steady_clock::now())
               ? std::nullopt
               : std::optional(too_often(request, "too many changes at once: about " +
                                                      std::to_string(static_cast<int>(limits_.changes.per_second)) +
                                                      " per second are accepted here"));
}

// A browser sends any request that a page makes, even to this machine. The request names the host (which DNS rebinding
// can point to this machine) and the origin of the page or, if it changes nothing, at least whether that is another
// one. A browser does not send tokens by itself.
std::optional<HttpResponse> RestAccess::refuse_foreign(const HttpRequest& request) const {
    const bool open = request.peer == nullptr || (request.peer->over_tcp() && request.peer->certificate.empty());
    // Without configured tokens, the field proves nothing, and a page can set it.
    const bool shown =
        !field_of(request, "Authorization").empty() && request.role != HttpRole::none && credentials()->tokens;
    const std::string_view host = field_of(request, "Host");
    if (open && !shown && request.role != HttpRole::none && !host.empty() && !is_local_name(host)) {
        return refused(request, 421,
                       "without a token, this gateway accepts only numeric addresses and localhost as Host");
    }
    const std::string_view origin = field_of(request, "Origin");
    const bool is_foreign = !origin.empty() && !is_own_origin(origin, host);
    const bool is_embedded = is_embedded_elsewhere(request);
    if ((is_foreign || is_embedded) && !shown && is_change(request)) {
        return refused(request, 403, "a page of another origin cannot change anything");
    }
    // The browser does not show the response to the page, but the page could use up the streams.
    if ((is_embedded || (is_foreign && request.path == stream_path)) && !shown && !is_health_path(request.path)) {
        return refused(request, 403, "a page of another origin cannot read anything without a token");
    }
    return std::nullopt;
}

std::optional<HttpResponse> RestAccess::refuse_guess(const HttpRequest& request) {
    if (request.peer == nullptr || field_of(request, "Authorization").empty()) {
        return std::nullopt;
    }
    const std::string client = client_of(*request.peer);
    const std::lock_guard lock(mutex_);
    return failures_.try_acquire(client, std::chrono::steady_clock::now())
               ? std::nullopt
               : std::optional(too_often(request, "too many invalid tokens from this address"));
}

CredentialsRead RestAccess::reload() {
    auto fresh = std::make_shared<const RestCredentials>(paths_);
    const std::lock_guard lock(mutex_);
    const auto before = std::exchange(credentials_, std::move(fresh));
    if (!credentials_->tokens && !credentials_->tls) {
        return CredentialsRead::none;
    }
    return before->fingerprint == credentials_->fingerprint ? CredentialsRead::same : CredentialsRead::changed;
}

std::shared_ptr<const TlsContext> RestAccess::tls() const {
    return credentials()->tls;
}

std::shared_ptr<const RestCredentials> RestAccess::credentials() const {
    const std::lock_guard lock(mutex_);
    return credentials_;
}

bool is_change(const HttpRequest& request) noexcept {
    return std::find(changing.begin(), changing.end(), request.method) != changing.end();
}

std::optional<HttpResponse> refuse_unless_allowed(const HttpRequest& request, HttpRole needed) {
    if (request.role >= needed) {
        return std::nullopt;
    }
    if (request.role != HttpRole::none) {
        return refused(request, 403, std::string(request.who) + " can read but not change anything");
    }
    const bool wrong = !field_of(request, "Authorization").empty();
    HttpResponse response = refused(
        request, 401, wrong ? "unknown token" : "a token is required: send the header \"Authorization: Bearer TOKEN\"");
    response.headers.emplace_back("WWW-Authenticate", wrong ? R"(Bearer error="invalid_token")" : "Bearer");
    return response;
}

}  // namespace telegate
