#pragma once

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

/// The state of an event stream after a pull.
enum class StreamState : std::uint8_t {
    more,     // more can be pulled at once
    waiting,  // all data has been pulled; pull again after a wake-up
    ended,    // the stream has ended: the connection closes
};

/// Appends new data to `out`, about `bytes_max` bytes at most. Called by one thread at a time, but not always by the
/// same one.
using StreamPull = std::function<StreamState(std::string& out, std::size_t bytes_max)>;

/// Appends the next piece of a body to `out`, about `bytes_max` bytes. Returns whether more pieces follow. Called by
/// one thread at a time, but not always by the same one, until it returns false or the client disconnects.
using BodyPieces = std::function<bool(std::string& out, std::size_t bytes_max)>;

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
    BodyPieces pieces = nullptr;
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

}  // namespace telegate
