#pragma once

#include "http_message.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace telegate {

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// What one request means for the connection that it came on.
struct HttpOutcome {
    bool close = false;          // nothing more may be read from this connection
    std::size_t body_bytes = 0;  // of the request's body, which follows its head and is to be thrown away
};

/// HTTP/1.1 by cpp-httplib, without its sockets and threads: the head of a request in, the bytes of the response out.
/// No resource here takes a body, so none is read: a body of stated length is left to the caller to skip.
///
/// Threads: one at a time; each worker has its own.
/// Limits:  a body over body_bytes_max is refused (413), one without a stated length too (411).
/// Failure: what is not HTTP is answered 400; a handler that throws is answered 500. respond() itself may throw
///          std::bad_alloc.
class HttpEngine {
  public:
    HttpEngine(HttpHandler handler, std::size_t body_bytes_max);
    ~HttpEngine();
    HttpEngine(const HttpEngine&) = delete;
    HttpEngine& operator=(const HttpEngine&) = delete;

    /// Answers the request with this head (request line, fields and the empty line) by appending to `out`.
    /// `last`: tell the peer that the connection closes after this response.
    [[nodiscard]] HttpOutcome respond(std::string_view head, bool last, std::string& out);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The bytes of a refusal to a request that cannot be parsed, closing the connection. Threads: any.
[[nodiscard]] std::string refusal_bytes(int status, std::string detail);

}  // namespace telegate
