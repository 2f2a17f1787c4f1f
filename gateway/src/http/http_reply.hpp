#pragma once

#include "http/http_message.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace telegate {

/// What goes to a peer: the head, with a small body; then a larger body, which may be shared with other answers,
/// pieces, or what a stream gives. Its memory is used again for the next answer.
struct HttpReply {
    std::string bytes;
    std::shared_ptr<const std::string> shared;
    BodyPieces pieces;
    StreamPull stream;
    bool chunked = false;  // pieces and stream
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

/// Appends one chunk. Threads: any. Failure: std::bad_alloc.
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// The bytes of a refusal to a request that is not handed to anybody, closing the connection. `instance`: the path that
/// was asked for; "" when it is not known. Threads: any.
[[nodiscard]] std::string refusal_bytes(int status, std::string detail, std::string instance, bool head_only);

}  // namespace telegate
