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

/// What somebody may do through REST; each may what the ones before it may.
enum class HttpRole : std::uint8_t {
    none,    // has not shown who he is, where that is needed
    reader,  // sees everything
    admin,   // changes things
};

/// Who is at the other end of a connection.
struct HttpPeer {
    std::string address = {};               // "127.0.0.1", "::1"; "unix" for a Unix socket
    std::optional<std::uint32_t> uid = {};  // of a Unix socket's peer
    std::string certificate = {};           // the name (CN) in a client certificate that has been verified
    [[nodiscard]] bool over_tcp() const noexcept { return !uid; }
};

/// One request as the routes see it. The texts live as long as the call.
struct HttpRequest {
    std::string_view method;
    std::string_view path;    // percent-decoded, without the query
    std::string_view target;  // as it came
    std::string_view body = {};
    HttpRole role = HttpRole::admin;
    std::string_view who = {};  // for the log: the name of a token, "cn=NAME", "uid=1000", "127.0.0.1"
    /// The value of a header field, its name in any case; "" when there is none. Several of one name: joined by ", ".
    std::function<std::string_view(std::string_view name)> field = {};
    const HttpPeer* peer = nullptr;  // there is always one but in tests of the routes
};

/// The value of a header field of `request`, see HttpRequest::field.
[[nodiscard]] inline std::string_view field_of(const HttpRequest& request, std::string_view name) {
    return request.field ? request.field(name) : std::string_view();
}

/// What an event stream has to say to the server that pulls from it.
enum class StreamState : std::uint8_t {
    more,     // there is more to pull at once
    waiting,  // all has been pulled; pull again when woken
    ended,    // nothing will come any more: the connection closes
};

/// Appends what is new to `out`, about `bytes_max` bytes at most. Called by one thread at a time, not always the same.
using StreamPull = std::function<StreamState(std::string& out, std::size_t bytes_max)>;

/// Appends the next piece of a body to `out`, about `bytes_max` bytes. Returns whether there are more. Called by one
/// thread at a time, not always the same, until it returns false or the client has gone.
using BodyPieces = std::function<bool(std::string& out, std::size_t bytes_max)>;

struct HttpResponse {
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  // beyond Content-Type and Content-Length
    /// In place of `body` when there is one: the same bytes for many answers.
    std::shared_ptr<const std::string> shared_body = nullptr;
    /// In place of `body`: a large one, which is made while it is sent.
    BodyPieces pieces = nullptr;
    /// When there is one, the body is what it gives, for as long as the client stays.
    StreamPull stream = nullptr;
    /// What a change has done, as " key=value ...", for its line in the log.
    LogFields log_note = {};

    /// Whether the body's length is known only when it has been sent.
    [[nodiscard]] bool has_open_end() const noexcept { return stream || pieces; }
};

}  // namespace telegate
