#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

struct HttpField {
    std::string_view name;
    std::string_view value;  // without surrounding whitespace
};

/// The parsed head of a request. The texts refer to the bytes that were read.
struct HttpHead {
    std::string_view method;
    std::string_view target;        // "/path?query" or "*"; of an absolute target, the part after the authority
    std::string_view host;          // of an absolute target, otherwise of the Host field; "" in HTTP/1.0 without one
    std::vector<HttpField> fields;  // in order
    std::uint64_t body_bytes = 0;
    bool http_1_0 = false;
    bool keep_alive = true;
    bool expects_continue = false;

    /// Returns the first field with this name, ignoring case, or nullptr if there is none.
    [[nodiscard]] const HttpField* find(std::string_view name) const noexcept;
};

/// The reason why a head is refused. The connection must close, because the start of the next request is unknown.
struct HeadFault {
    int status = 0;  // 0: no fault
    std::string_view why = {};
};

constexpr std::size_t fields_max = 100;  // browsers send about twenty

/// Parses a whole head: request line, fields and the empty line. The parser is strict, so a proxy in front of the
/// gateway cannot see different requests in the same bytes (request smuggling): no continued fields, exactly one Host,
/// at most one Content-Length, and no Transfer-Encoding.
///
/// Threads: any, each with its own `head`, whose memory is reused.
/// Limits: fields_max; the caller limits the number of bytes.
/// Failure: returns the fault; `head` then holds the part that was read.
[[nodiscard]] HeadFault read_head(std::string_view bytes, HttpHead& head);

/// Returns whether two names are equal, ignoring the case of ASCII letters.
[[nodiscard]] bool same_name(std::string_view one, std::string_view other) noexcept;

/// Decodes percent-encoding; invalid escapes stay as they are. In a query, a plus sign becomes a space.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool is_query);

}  // namespace telegate
