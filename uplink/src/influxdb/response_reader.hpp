#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The parts of a response of an HTTP server that matter for writing.
struct HttpResponse {
    unsigned status = 0;
    std::string reason;    // of the status line
    std::string error;     // the text of the server about it; "": none
    std::string location;  // of a redirect
    std::chrono::seconds retry_after{0};
    bool keeps_open = false;  // the connection can be used again
};

/// Reads responses of an HTTP/1.1 server, one for each request.
///
/// Threads: one.
/// Limits:  a response is complete after bytes_max; the rest of its body is not read.
/// Failure: read() throws std::runtime_error for bytes that are not a response, and for a head that exceeds the limit.
class ResponseReader {
  public:
    static constexpr std::size_t bytes_max = 65'536;
    static constexpr std::size_t error_bytes_max = 300;

    ResponseReader();
    ~ResponseReader();
    ResponseReader(const ResponseReader&) = delete;
    ResponseReader& operator=(const ResponseReader&) = delete;

    /// Begins with the next response. `has_body`: it may have a body; one to CONNECT has none.
    void reset(bool has_body = true);
    /// Returns the response once it is complete. No bytes may follow it.
    [[nodiscard]] std::optional<HttpResponse> read(std::string_view bytes);
    /// The connection was closed. Returns a response that ends with it.
    [[nodiscard]] std::optional<HttpResponse> end();

  private:
    struct Parser;

    [[nodiscard]] HttpResponse response();
    [[nodiscard]] HttpResponse cut_response();

    std::unique_ptr<Parser> parser_;
    std::string unread_;          // bytes that the parser needs more of
    std::size_t read_bytes_ = 0;  // of the response
    bool has_body_ = true;
};

}  // namespace telegate::uplink
