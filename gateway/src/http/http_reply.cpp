#include "http/http_reply.hpp"

#include "http/http_budget.hpp"
#include "http/http_head.hpp"
#include "http/problem.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace telegate {
namespace {

constexpr int retry_after_s = 1;

void append_number(std::string& out, std::size_t number) {
    std::array<char, 20> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    out.append(text.data(), end);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

// How the peer detects the end of the body.
void append_framing(std::string& out, const HttpResponse& response, const ReplyFrame& frame) {
    if (response.has_open_end()) {
        out.append(frame.http_1_0 ? "" : "Transfer-Encoding: chunked\r\n");
        return;
    }
    if (response.status != 204 && response.status != 304) {
        out.append("Content-Length: ");
        append_number(out, response.shared_body ? response.shared_body->size() : response.body.size());
        out.append("\r\n");
    }
}

void append_head(std::string& out, const HttpResponse& response, const ReplyFrame& frame) {
    out.append("HTTP/1.1 ");
    append_number(out, static_cast<std::size_t>(response.status));
    out.append(" ").append(status_phrase(response.status)).append("\r\n");
    if (frame.close || (response.has_open_end() && frame.http_1_0)) {
        out.append("Connection: close\r\n");
    } else if (frame.http_1_0) {
        out.append("Connection: keep-alive\r\n");
    }
    if (!response.content_type.empty()) {
        append_field(out, "Content-Type", response.content_type);
    }
    bool has_caching = false;
    for (const auto& [name, value] : response.headers) {
        has_caching = has_caching || same_name(name, "Cache-Control");
        append_field(out, name, value);
    }
    out.append(has_caching ? "" : "Cache-Control: no-store\r\n");
    append_framing(out, response, frame);
    out.append("\r\n");
}

}  // namespace

void write_reply(HttpResponse&& response, const ReplyFrame& frame, HttpReply& reply) {
    append_head(reply.bytes, response, frame);
    if (frame.head_only || response.status == 204 || response.status == 304) {
        return;
    }
    if (response.has_open_end()) {
        reply.chunked = !frame.http_1_0;
        reply.stream = std::move(response.stream);
        reply.pieces = std::move(response.pieces);
    } else if (response.shared_body) {
        reply.shared = std::move(response.shared_body);
    } else if (response.body.size() > HttpBudget::small_body_bytes_max) {
        reply.shared = std::make_shared<const std::string>(std::move(response.body));
    } else {
        reply.bytes += response.body;
    }
}

void append_chunk(std::string& out, std::string_view bytes) {
    std::array<char, 16> size{};
    const auto [end, error] = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16);
    out.append(size.data(), end);
    out.append("\r\n").append(bytes).append("\r\n");
}

std::string refusal_bytes(int status, std::string detail, std::string instance, bool head_only) {
    HttpResponse problem = problem_response({status, std::move(detail), std::move(instance)});
    if (status == 503) {
        problem.headers.emplace_back("Retry-After", std::to_string(retry_after_s));
    }
    HttpReply reply;
    write_reply(std::move(problem), {.close = true, .head_only = head_only}, reply);
    return std::move(reply.bytes);
}

}  // namespace telegate
