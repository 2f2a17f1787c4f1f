#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::http {

/// The parts of a response head that the driver uses.
struct ResponseHead {
    int status = 0;
    std::string reason = {};
    std::string content_type = {};
    std::string content_encoding = {};
    std::string transfer_encoding = {};
};

/// Reads the response to one GET request as RFC 9110 and RFC 9112 require of a client: interim responses are skipped,
/// folded lines are joined, and a message with an ambiguous length is refused. The division of the bytes between calls
/// makes no difference.
///
/// Threads: one.
/// Limits: head_bytes_max for the heads together, and for the lines between two chunks; body_bytes_max for the body.
/// Failure: Status::invalid or Status::too_long, permanently; std::bad_alloc.
class ResponseReader {
  public:
    static constexpr std::size_t head_bytes_max = 256 * 1'024;

    enum class Status : std::uint8_t {
        need_more,
        complete,
        invalid,   // not HTTP, or with an ambiguous length
        too_long,  // the body
    };

    /// Appends the body to `body`, which must be empty.
    ResponseReader(std::size_t body_bytes_max, std::string& body) : body_bytes_max_(body_bytes_max), body_(body) {}

    [[nodiscard]] Status feed(std::string_view bytes);
    /// Must be called when the server has closed the connection.
    [[nodiscard]] Status end() noexcept;

    [[nodiscard]] bool has_head() const noexcept { return has_head_; }
    [[nodiscard]] const ResponseHead& head() const noexcept { return head_; }
    /// Returns whether the connection can be used for another request after the complete response.
    [[nodiscard]] bool keeps_alive() const noexcept { return keeps_alive_; }

  private:
    enum class Part : std::uint8_t {
        start_line,
        fields,
        sized,
        chunk_size,
        chunk,
        chunk_end,
        trailers,
        until_close,
        done
    };

    [[nodiscard]] Status parse_line(std::string_view line);
    [[nodiscard]] bool parse_start_line(std::string_view line);
    [[nodiscard]] bool parse_field_line(std::string_view line);
    [[nodiscard]] bool parse_field();
    [[nodiscard]] bool parse_length(std::string_view value) noexcept;
    void parse_encoding(std::string_view list);
    void parse_connection(std::string_view value);
    [[nodiscard]] Status end_fields();
    [[nodiscard]] Status parse_chunk_size(std::string_view line) noexcept;
    [[nodiscard]] Status read_body(std::string_view& bytes);
    [[nodiscard]] Status finish(Status status) noexcept;

    const std::size_t body_bytes_max_;
    std::string& body_;
    Part part_ = Part::start_line;
    Status status_ = Status::need_more;
    ResponseHead head_;
    bool has_head_ = false;
    bool keeps_alive_ = false;
    bool is_chunked_ = false;
    bool has_length_ = false;
    bool has_two_lengths_ = false;
    std::size_t length_ = 0;      // of the body or the chunk: the bytes that are missing
    std::size_t head_bytes_ = 0;  // of all lines
    std::string line_;            // the beginning of a line
    std::string field_;           // a field line with its folded lines
};

}  // namespace telegate::http
