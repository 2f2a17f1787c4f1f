#pragma once

#include "http/http_message.hpp"
#include "http/http_reply.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace telegate {

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// Who a peer is taken for.
struct HttpIdentity {
    HttpRole role = HttpRole::admin;
    std::string who = {};
};
/// From the peer and the field Authorization, "" when there is none. Called for each request, by several at once.
using HttpIdentify = std::function<HttpIdentity(const HttpPeer& peer, std::string_view authorization)>;

/// Whether requests of this path go before others, as health checks do. Called by several at once.
using HttpGoesFirst = std::function<bool(std::string_view path)>;

/// One request, as far as it has come.
struct HttpInput {
    std::string_view head;  // request line, fields and the empty line
    std::string_view rest;  // what has come behind it
    const HttpPeer& peer;
    bool last = false;        // tell the peer that the connection closes after this answer
    bool may_answer = false;  // otherwise only what goes first is answered
};

/// What one request means for the connection that it came on.
struct HttpOutcome {
    bool close = false;             // nothing more may be read from this connection
    std::size_t body_bytes = 0;     // of the request's body, which follows its head
    bool waiting = false;           // for that body: nothing has been answered, ask again when all of it has come
    bool expects_continue = false;  // while waiting: the peer waits too, for a word that it may send
    bool queued = false;            // only because the call may not answer it: otherwise as waiting
    bool goes_first = false;        // see HttpGoesFirst
};

/// What requests are answered with. Outlives the engines.
struct HttpCalls {
    HttpHandler handler;
    HttpIdentify identify = {};     // none: everybody is admin, by the name of his address
    HttpGoesFirst goes_first = {};  // none: no path does
};

/// Requests in, answers out. The head is judged by read_head(); what is plain goes to the handler at once, and
/// what is not, such as a target with percent signs or a query, through cpp-httplib, without its sockets and threads.
///
/// Threads: one at a time; each worker has its own.
/// Limits:  a body over body_bytes_max is refused (413). Bodies are wanted from admins only, and with POST, PUT and
///          PATCH: any other body is left to the caller to throw away.
/// Failure: what is not HTTP is answered 400; a handler that throws is answered 500. respond() itself may throw
///          std::bad_alloc.
class HttpEngine {
  public:
    HttpEngine(const HttpCalls& calls, std::size_t body_bytes_max);
    ~HttpEngine();
    HttpEngine(const HttpEngine&) = delete;
    HttpEngine& operator=(const HttpEngine&) = delete;

    /// Answers the request, unless its body is wanted and not there.
    [[nodiscard]] HttpOutcome respond(const HttpInput& input, HttpReply& reply);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
