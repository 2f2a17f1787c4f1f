#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>

namespace telegate {

/// The parsed head of a request.
struct HttpHead {
    boost::beast::http::request_header<> message;  // the texts below refer to it
    std::string_view method;
    std::string_view target;  // "/path?query" or "*"; of an absolute target, the part after the authority
    std::string_view host;    // of an absolute target, otherwise of the Host field; "" in HTTP/1.0 without one
    std::uint64_t body_bytes = 0;
    bool http_1_0 = false;
    bool keep_alive = true;
    bool expects_continue = false;

    /// Returns the value of a field, ignoring the case of its name; "" if there is none. The values of repeated fields
    /// are joined by ", ".
    [[nodiscard]] std::string_view field(std::string_view name);
    std::forward_list<std::string> joined;  // the joined values that have been returned
};

/// The reason why a head is refused. The connection must close, because the start of the next request is unknown.
struct HeadFault {
    int status = 0;  // 0: no fault
    std::string why = {};
};

constexpr std::size_t fields_max = 100;  // browsers send about twenty

/// Parses a whole head: request line, fields and the empty line. Stricter than Beast, so a proxy in front of the
/// gateway cannot see different requests in the same bytes (request smuggling): no continued fields, exactly one Host,
/// at most one Content-Length, and no Transfer-Encoding.
///
/// Threads: any, each with its own `head`.
/// Limits: fields_max; the caller limits the number of bytes.
/// Failure: returns the fault; `head` then holds the part that was read. Throws std::bad_alloc.
[[nodiscard]] HeadFault read_head(std::string_view bytes, HttpHead& head);

}  // namespace telegate
