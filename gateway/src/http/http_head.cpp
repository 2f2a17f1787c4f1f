#include "http/http_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

constexpr HeadFault no_fault{};
constexpr HeadFault not_http{400, "this is not an HTTP/1.1 request"};

constexpr bool is_token_byte(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

constexpr std::array<bool, 256> token_bytes = [] {
    std::array<bool, 256> known{};
    for (std::size_t byte = 0; byte < known.size(); ++byte) {
        known[byte] = is_token_byte(static_cast<char>(byte));
    }
    return known;
}();

bool is_token(std::string_view text) noexcept {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return token_bytes[static_cast<unsigned char>(c)]; });
}

bool is_visible(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_value(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < ' ' && byte != '\t') || byte == 0x7f;
    });
}

std::string_view without_blanks(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// "http://host:port/path" becomes the path, and the authority the host, as RFC 9112, 3.2.2 wants it.
HeadFault read_target(std::string_view target, HttpHead& head) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!same_name(target.substr(0, scheme.size()), scheme)) {
            continue;
        }
        const std::string_view rest = target.substr(scheme.size());
        const std::size_t path = std::min(rest.find('/'), rest.size());
        head.host = rest.substr(0, path);
        target = path < rest.size() ? rest.substr(path) : "/";
        if (head.host.empty() || head.host.find_first_of("?#@") != std::string_view::npos) {
            return {400, "the target has no host, or more than that"};
        }
    }
    head.target = target;
    const bool whole_server = target == "*" && head.method == "OPTIONS";
    return target.starts_with('/') || whole_server ? no_fault : HeadFault{400, "the target must begin with /"};
}

HeadFault read_request_line(std::string_view line, HttpHead& head) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) {
        return not_http;
    }
    head.method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    head.http_1_0 = version == "HTTP/1.0";
    head.keep_alive = !head.http_1_0;
    if (!is_token(head.method) || !is_visible(target) || (!head.http_1_0 && version != "HTTP/1.1")) {
        return not_http;
    }
    return read_target(target, head);
}

HeadFault read_field(std::string_view line, HttpHead& head) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
        return {400, "a field must be NAME: VALUE on one line, with nothing between the name and its colon"};
    }
    const std::string_view value = without_blanks(line.substr(colon + 1));
    if (!is_value(value)) {
        return {400, "a field holds a control character, or its line does not end in CRLF"};
    }
    if (head.fields.size() == fields_max) {
        return {431, "a request may have at most 100 fields"};
    }
    head.fields.push_back({line.substr(0, colon), value});
    return no_fault;
}

/// What the fields say that decide how the request and the connection go on, each with how often it is there.
struct Decisive {
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    std::size_t encodings = 0;
    bool close = false;  // whatever comes after it (RFC 9112)
    std::string_view host = {};
    std::string_view length = {};
};

HeadFault note_field(const HttpField& field, HttpHead& head, Decisive& decisive) {
    if (same_name(field.name, "host")) {
        ++decisive.hosts;
        decisive.host = field.value;
    } else if (same_name(field.name, "content-length")) {
        ++decisive.lengths;
        decisive.length = field.value;
    } else if (same_name(field.name, "transfer-encoding")) {
        ++decisive.encodings;
    } else if (same_name(field.name, "connection")) {
        decisive.close = decisive.close || has_token(field.value, "close");
        head.keep_alive = (head.keep_alive || has_token(field.value, "keep-alive")) && !decisive.close;
    } else if (same_name(field.name, "expect")) {
        head.expects_continue = same_name(field.value, "100-continue");
        return head.expects_continue ? no_fault : HeadFault{417, "Expect may only be 100-continue"};
    }
    return no_fault;
}

HeadFault read_length(const Decisive& decisive, HttpHead& head) {
    if (decisive.encodings > 0) {
        return decisive.lengths > 0 || head.http_1_0
                   ? HeadFault{400, "Transfer-Encoding and Content-Length, or HTTP/1.0, do not go together"}
                   : HeadFault{411, "a body needs a Content-Length; Transfer-Encoding is not taken"};
    }
    if (decisive.lengths == 0) {
        return no_fault;
    }
    const char* const end = decisive.length.data() + decisive.length.size();
    const auto [rest, error] = std::from_chars(decisive.length.data(), end, head.body_bytes);
    return decisive.lengths == 1 && error == std::errc() && rest == end
               ? no_fault
               : HeadFault{400, "Content-Length must be one decimal number"};
}

HeadFault judge(HttpHead& head) {
    Decisive decisive;
    for (const HttpField& field : head.fields) {
        if (const HeadFault fault = note_field(field, head, decisive); fault.status != 0) {
            return fault;
        }
    }
    if (decisive.hosts > 1 || (decisive.hosts == 0 && !head.http_1_0)) {
        return {400, "a request needs one Host"};
    }
    if (head.host.empty()) {
        head.host = decisive.host;
    }
    return read_length(decisive, head);
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
    for (bool first = true; !bytes.starts_with("\r\n") || first; first = false) {
        const std::size_t end = bytes.find("\r\n");
        if (end == std::string_view::npos) {
            return not_http;
        }
        const std::string_view line = bytes.substr(0, end);
        if (const HeadFault fault = first ? read_request_line(line, head) : read_field(line, head); fault.status != 0) {
            return fault;
        }
        bytes.remove_prefix(end + 2);
    }
    return judge(head);
}

bool same_name(std::string_view one, std::string_view other) noexcept {
    return one.size() == other.size() &&
           std::equal(one.begin(), one.end(), other.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

bool has_token(std::string_view list, std::string_view token) noexcept {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (same_name(without_blanks(list.substr(0, comma)), token)) {
            return true;
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

}  // namespace telegate
