#pragma once

#include "http/http_message.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace telegate {

/// The output to a peer: the head with a small body, followed by a larger body, which may be shared with other
/// responses, or by the data of a pull.
struct HttpReply {
    std::string bytes;
    std::shared_ptr<const std::string> shared;
    StreamPull pull;
    bool chunked = false;    // applies to pull
    bool is_stream = false;  // pull is an event stream
};

/// The framing of a response.
struct ReplyFrame {
    bool close = false;     // the connection closes after this response, which announces it
    bool http_1_0 = false;  // of the request
    bool head_only = false;
};

/// Returns the response as it is sent. Adds Cache-Control: no-store unless the response sets the field itself. Threads:
/// any. Failure: std::bad_alloc.
[[nodiscard]] HttpReply reply_of(HttpResponse&& response, const ReplyFrame& frame);

/// Appends one chunk, which must not be empty. Threads: any. Failure: std::bad_alloc.
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Returns the bytes of a refusal that is sent without calling the handler and closes the connection. `instance` is the
/// requested path, "" if unknown. Threads: any.
[[nodiscard]] std::string refusal_bytes(int status, std::string detail, std::string instance, bool head_only);

}  // namespace telegate
