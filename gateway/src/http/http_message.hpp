#pragma once

#include "core/client_shares.hpp"
#include "log/log_line.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The roles of REST clients; each role includes the permissions of the ones before it.
enum class HttpRole : std::uint8_t {
    none,    // has not authenticated, although authentication is required
    reader,  // may read everything
    admin,   // may change settings and state
};

/// The peer of a connection.
struct HttpPeer {
    std::string address = {};               // "127.0.0.1", "::1"; "unix" for a Unix socket
    std::optional<std::uint32_t> uid = {};  // of the peer of a Unix socket
    std::string certificate = {};           // the common name (CN) of a verified client certificate
    [[nodiscard]] bool over_tcp() const noexcept { return !uid; }
};

/// Returns the client that the peer counts as, see client_of() of core; each user of a Unix socket is one.
[[nodiscard]] inline std::string client_of(const HttpPeer& peer) {
    return peer.uid ? "uid=" + std::to_string(*peer.uid) : client_of(peer.address);
}

/// A request as the routes see it. The texts are valid during the call.
struct HttpRequest {
    std::string_view method;
    std::string_view path;    // percent-decoded, without the query
    std::string_view target;  // as received
    std::string_view body = {};
    HttpRole role = HttpRole::admin;
    std::string_view who = {};  // identity for the log: the name of a token, "cn=NAME", "uid=1000", "127.0.0.1"
    /// Returns the value of a header field, ignoring the case of its name; "" if there is none. The values of repeated
    /// fields are joined by ", ".
    std::function<std::string_view(std::string_view name)> field = {};
    const HttpPeer* peer = nullptr;  // nullptr only in tests of the routes
};

/// Returns the value of a header field of `request`; see HttpRequest::field.
[[nodiscard]] inline std::string_view field_of(const HttpRequest& request, std::string_view name) {
    return request.field ? request.field(name) : std::string_view();
}

/// The state of a body or an event stream after a pull.
enum class StreamState : std::uint8_t {
    more,     // more can be pulled at once
    waiting,  // of an event stream: all data has been pulled; pull again after a wake-up
    ended,    // all data has been pulled; after an event stream, the connection closes
};

/// Appends the next data to `out`, about `bytes_max` bytes at most. Called by one thread at a time, but not always by
/// the same one, until it returns `ended` or the client disconnects.
using StreamPull = std::function<StreamState(std::string& out, std::size_t bytes_max)>;

struct HttpResponse;
/// Receives the response to a request. To be called once, on any thread, while the server runs.
using HttpAnswer = std::function<void(HttpResponse response)>;

struct HttpResponse {
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  // in addition to Content-Type and Content-Length
    /// Replaces `body` if set: the same bytes for many responses.
    std::shared_ptr<const std::string> shared_body = nullptr;
    /// Replaces `body` if set: a large body that is created while it is sent.
    StreamPull pieces = nullptr;
    /// If set, the body is the data of the stream until the client disconnects.
    StreamPull stream = nullptr;
    /// If set, the handler has no response yet, and the other members are ignored. The server calls this once, on the
    /// worker, which is then free for other requests. stop() waits until the response has been given.
    std::function<void(HttpAnswer answer)> later = nullptr;
    /// The effects of a change, as " key=value ...", for its log line.
    LogFields log_note = {};

    /// Returns whether the length of the body is unknown until it has been sent.
    [[nodiscard]] bool has_open_end() const noexcept { return stream || pieces; }
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// The identity and role that the server assigns to a peer.
struct HttpIdentity {
    HttpRole role = HttpRole::admin;
    std::string who = {};
};
/// Identifies a peer from its address and its Authorization field, "" if there is none. Called for each request.
using HttpIdentify = std::function<HttpIdentity(const HttpPeer& peer, std::string_view authorization)>;

/// Returns whether requests for this path are answered before others, as health checks are.
using HttpGoesFirst = std::function<bool(std::string_view path)>;

/// The callbacks of a server. All may be called by several threads at once.
struct HttpCalls {
    HttpHandler handler;            // on a worker; on the I/O thread for prioritized paths
    HttpIdentify identify = {};     // on the I/O thread; if unset, every peer is an admin, named by its address
    HttpGoesFirst goes_first = {};  // on the I/O thread; if unset, no path is prioritized
};

}  // namespace telegate
