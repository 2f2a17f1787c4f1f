#pragma once

#include "http/http_message.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace telegate {

/// The output to a peer: the head with a small body, followed by a larger body, which may be shared with other
/// responses, by pieces, or by the data of a stream. Its memory is reused for the next response.
struct HttpReply {
    std::string bytes;
    std::shared_ptr<const std::string> shared;
    BodyPieces pieces;
    StreamPull stream;
    bool chunked = false;  // applies to pieces and stream
};

/// The framing of a response.
struct ReplyFrame {
    bool close = false;     // the connection closes after this response, which announces it
    bool http_1_0 = false;  // of the request
    bool head_only = false;
};

/// Appends the response to `reply`. Adds Cache-Control: no-store unless the response sets the field itself. Threads:
/// any, each with its own `reply`. Failure: std::bad_alloc.
void write_reply(HttpResponse&& response, const ReplyFrame& frame, HttpReply& reply);

/// Appends one chunk. Threads: any. Failure: std::bad_alloc.
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Returns the bytes of a refusal that is sent without calling the handler and closes the connection. `instance` is the
/// requested path, "" if unknown. Threads: any.
[[nodiscard]] std::string refusal_bytes(int status, std::string detail, std::string instance, bool head_only);

}  // namespace telegate
