#include "http/http_head.hpp"

#include "core/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace telegate {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

HeadFault not_http() {
    return {400, "not an HTTP/1.1 request"};
}

HeadFault bad_length() {
    return {400, "invalid Content-Length: must be one decimal number, without Transfer-Encoding"};
}

HeadFault bad_field() {
    return {400, "invalid header field: must be NAME: VALUE on one line that ends in CRLF"};
}

std::string_view view_of(boost::beast::string_view text) noexcept {
    return {text.data(), text.size()};
}

HeadFault fault_of(const error_code& ec) {
    if (ec == http::error::bad_content_length || ec == http::error::bad_transfer_encoding) {
        return bad_length();
    }
    return ec == http::error::bad_field || ec == http::error::bad_value ? bad_field() : not_http();
}

bool is_visible(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// Turns "http://host:port/path" into the path and makes the authority the host (RFC 9112, 3.2.2).
HeadFault read_target(HttpHead& head) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equal_ignoring_case(head.target.substr(0, scheme.size()), scheme)) {
            continue;
        }
        const std::string_view rest = head.target.substr(scheme.size());
        const std::size_t path = std::min(rest.find('/'), rest.size());
        head.host = rest.substr(0, path);
        head.target = path < rest.size() ? rest.substr(path) : "/";
        if (head.host.empty() || head.host.find_first_of("?#@") != std::string_view::npos) {
            return {400, "invalid request target: must be a path or http://HOST[:PORT]/PATH"};
        }
    }
    const bool whole_server = head.target == "*" && head.method == "OPTIONS";
    if (!head.target.starts_with('/') && !whole_server) {
        return {400, "invalid request target: must begin with /"};
    }
    return {};
}

/// Returns whether the client wants the connection to close, which overrides everything else (RFC 9112, 9.6). Beast
/// ignores it in HTTP/1.0.
bool requests_close(const http::fields& fields) {
    const auto [first, last] = fields.equal_range(http::field::connection);
    return std::any_of(first, last, [](const auto& field) { return http::token_list(field.value()).exists("close"); });
}

HeadFault read_fields(HttpHead& head) {
    const http::fields& fields = head.message;
    if (std::distance(fields.begin(), fields.end()) > std::ptrdiff_t{fields_max}) {
        return {431, "too many header fields: must be at most 100"};
    }
    const std::size_t hosts = fields.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && !head.http_1_0)) {
        return {400, "invalid request: must have exactly one Host field"};
    }
    if (head.host.empty()) {
        head.host = view_of(fields[http::field::host]);
    }
    if (const auto expect = fields.find(http::field::expect); expect != fields.end()) {
        head.expects_continue = equal_ignoring_case(view_of(expect->value()), "100-continue");
        if (!head.expects_continue) {
            return {417, "invalid Expect: must be 100-continue"};
        }
    }
    const std::size_t lengths = fields.count(http::field::content_length);
    if (fields.count(http::field::transfer_encoding) > 0) {
        return head.http_1_0 || lengths > 0
                   ? bad_length()
                   : HeadFault{411, "a request body requires Content-Length; Transfer-Encoding is not supported"};
    }
    // Beast also accepts equal numbers, in several fields or in a list.
    const bool is_list = view_of(fields[http::field::content_length]).find(',') != std::string_view::npos;
    return lengths > 1 || is_list ? bad_length() : HeadFault{};
}

}  // namespace

std::string_view HttpHead::field(std::string_view name) {
    if (equal_ignoring_case(name, "host")) {
        return host;
    }
    const auto [first, last] = message.equal_range({name.data(), name.size()});
    if (first == last) {
        return {};
    }
    std::string all;
    for (auto each = std::next(first); each != last; ++each) {
        all.append(", ").append(view_of(each->value()));
    }
    const std::string_view value = view_of(first->value());
    return all.empty() ? value : joined.emplace_front(all.insert(0, value));
}

HeadFault read_head(std::string_view bytes, HttpHead& head) {
    head = HttpHead{};
    // Beast would join continuation lines, which other servers read as separate lines.
    if (bytes.find("\n ") != std::string_view::npos || bytes.find("\n\t") != std::string_view::npos) {
        return bad_field();
    }
    http::request_parser<http::empty_body> parser;
    parser.header_limit(std::numeric_limits<std::uint32_t>::max());
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    parser.skip(true);  // no body follows
    error_code ec;
    parser.put(boost::asio::buffer(bytes), ec);
    if (ec || !parser.is_header_done()) {
        return ec ? fault_of(ec) : not_http();
    }
    head.keep_alive = parser.keep_alive() && !requests_close(parser.get());
    head.body_bytes = parser.content_length().value_or(0);
    head.message = parser.release();
    head.method = view_of(head.message.method_string());
    head.target = view_of(head.message.target());
    head.http_1_0 = head.message.version() == 10;
    if (!is_visible(head.target)) {
        return not_http();
    }
    HeadFault fault = read_target(head);
    return fault.status != 0 ? fault : read_fields(head);
}

}  // namespace telegate
