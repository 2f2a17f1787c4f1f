#include "http/http_head.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace telegate {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

constexpr HeadFault no_fault{};
constexpr HeadFault not_http{400, "not an HTTP/1.1 request"};
constexpr HeadFault bad_length{400, "invalid Content-Length: must be one decimal number, without Transfer-Encoding"};
constexpr HeadFault bad_field{400, "invalid header field: must be NAME: VALUE on one line that ends in CRLF"};

std::string_view view_of(Text text) noexcept {
    return {text.data(), text.size()};
}

Text text_of(std::string_view view) noexcept {
    return {view.data(), view.size()};
}

/// Collects the parts of a head that Beast finds.
class HeadParser final : public http::basic_parser<true> {
  public:
    explicit HeadParser(HttpHead& head) : head_(head) {
        header_limit(std::numeric_limits<std::uint32_t>::max());
        body_limit(std::numeric_limits<std::uint64_t>::max());
        skip(true);  // no body follows
    }

  private:
    // NOLINTNEXTLINE(readability-function-size): the parameters are those of Beast
    void on_request_impl(http::verb /*verb*/, Text method, Text target, int version, error_code& /*ec*/) override {
        head_.method = view_of(method);
        head_.target = view_of(target);
        head_.http_1_0 = version == 10;
    }
    void on_field_impl(http::field name, Text name_text, Text value, error_code& ec) override {
        if (head_.fields.size() == fields_max) {
            ec = http::error::header_limit;
            return;
        }
        head_.fields.push_back({view_of(name_text), view_of(value)});
        hosts += name == http::field::host ? 1U : 0U;
        lengths += name == http::field::content_length ? 1U : 0U;
        encodings += name == http::field::transfer_encoding ? 1U : 0U;
    }
    void on_response_impl(int, Text, int, error_code&) override {}
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(Text, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}

    HttpHead& head_;

  public:
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    std::size_t encodings = 0;
};

HeadFault fault_of(const error_code& ec) {
    if (ec == http::error::header_limit) {
        return {431, "too many header fields: must be at most 100"};
    }
    if (ec == http::error::bad_content_length || ec == http::error::bad_transfer_encoding) {
        return bad_length;
    }
    return ec == http::error::bad_field || ec == http::error::bad_value ? bad_field : not_http;
}

bool is_visible(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// Turns "http://host:port/path" into the path and makes the authority the host (RFC 9112, 3.2.2).
HeadFault read_target(HttpHead& head) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!same_name(head.target.substr(0, scheme.size()), scheme)) {
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
    return head.target.starts_with('/') || whole_server ? no_fault
                                                        : HeadFault{400, "invalid request target: must begin with /"};
}

/// "close" overrides everything else (RFC 9112, 9.6).
bool is_kept_alive(const HttpHead& head) {
    bool keeps = !head.http_1_0;
    bool closes = false;
    for (const HttpField& field : head.fields) {
        if (same_name(field.name, "connection")) {
            http::token_list tokens(text_of(field.value));
            keeps = keeps || tokens.exists("keep-alive");
            closes = closes || tokens.exists("close");
        }
    }
    return keeps && !closes;
}

HeadFault judge(const HeadParser& parser, HttpHead& head) {
    if (const HeadFault fault = read_target(head); fault.status != 0) {
        return fault;
    }
    if (parser.hosts > 1 || (parser.hosts == 0 && !head.http_1_0)) {
        return {400, "invalid request: must have exactly one Host field"};
    }
    if (head.host.empty() && parser.hosts == 1) {
        head.host = head.find("host")->value;
    }
    if (const HttpField* const expect = head.find("expect")) {
        head.expects_continue = same_name(expect->value, "100-continue");
        if (!head.expects_continue) {
            return {417, "invalid Expect: must be 100-continue"};
        }
    }
    if (parser.encodings > 0) {
        return head.http_1_0 || parser.lengths > 0
                   ? bad_length
                   : HeadFault{411, "a request body requires Content-Length; Transfer-Encoding is not supported"};
    }
    // Beast also accepts a list of equal numbers.
    if (parser.lengths > 1 ||
        (parser.lengths == 1 && head.find("content-length")->value.find(',') != std::string_view::npos)) {
        return bad_length;
    }
    head.keep_alive = is_kept_alive(head);
    head.body_bytes = parser.content_length().value_or(0);
    return no_fault;
}

}  // namespace

const HttpField* HttpHead::find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const HttpField& field) { return same_name(field.name, name); });
    return found == fields.end() ? nullptr : &*found;
}

HeadFault read_head(std::string_view bytes, HttpHead& head) {
    std::vector<HttpField> fields = std::move(head.fields);
    fields.clear();
    head = HttpHead{};
    head.fields = std::move(fields);
    // Beast would join continuation lines, which other servers read as separate lines.
    if (bytes.find("\n ") != std::string_view::npos || bytes.find("\n\t") != std::string_view::npos) {
        return bad_field;
    }
    HeadParser parser(head);
    error_code ec;
    parser.put(boost::asio::buffer(bytes), ec);
    if (ec) {
        return fault_of(ec);
    }
    return parser.is_header_done() && is_visible(head.target) ? judge(parser, head) : not_http;
}

bool same_name(std::string_view one, std::string_view other) noexcept {
    return boost::beast::iequals(text_of(one), text_of(other));
}

std::string percent_decoded(std::string_view text, bool is_query) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned code = 0;
        const char* const digits = text.data() + at + 1;
        if (text[at] == '%' && at + 2 < text.size() &&
            std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
            result += static_cast<char>(code);
            at += 2;
        } else {
            result += text[at] == '+' && is_query ? ' ' : text[at];
        }
    }
    return result;
}

}  // namespace telegate
