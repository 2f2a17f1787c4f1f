#pragma once

#include "http_message.hpp"

#include <memory>
#include <string>

namespace telegate {

/// What goes to a peer: bytes, then bytes that are shared with other answers, then what a stream gives. Its memory is
/// used again for the next answer.
struct HttpReply {
    std::string bytes;
    std::shared_ptr<const std::string> shared;
    StreamPull stream;
};

/// How an answer is to be framed.
struct ReplyFrame {
    bool close = false;     // the connection closes after this answer, and says so
    bool http_1_0 = false;  // of the request
    bool head_only = false;
};

/// Appends the answer to `reply`. Every answer says Cache-Control: no-store unless it says another one itself.
/// Threads: any, each with a `reply` of its own. Failure: std::bad_alloc.
void write_reply(HttpResponse&& response, const ReplyFrame& frame, HttpReply& reply);

/// The bytes of a refusal to a request that is not handed to anybody, closing the connection. `instance`: the path that
/// was asked for; "" when it is not known. Threads: any.
[[nodiscard]] std::string refusal_bytes(int status, std::string detail, std::string instance);

}  // namespace telegate
