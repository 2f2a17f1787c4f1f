#include "http/http_reply.hpp"

#include "http/http_budget.hpp"
#include "http/problem.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include <utility>

namespace telegate {
namespace {

namespace http = boost::beast::http;

constexpr int retry_after_s = 1;

boost::beast::string_view text_of(std::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Returns whether the status allows a body.
bool has_body(const HttpResponse& response) {
    return response.status != 204 && response.status != 304;
}

// How the peer detects the end of the body.
void set_framing(http::response_header<>& head, const HttpResponse& response, const ReplyFrame& frame) {
    if (!response.has_open_end()) {
        const std::string& body = response.shared_body ? *response.shared_body : response.body;
        if (has_body(response)) {
            head.set(http::field::content_length, std::to_string(body.size()));
        }
    } else if (!frame.http_1_0) {
        head.set(http::field::transfer_encoding, "chunked");
    }
}

std::string head_of(const HttpResponse& response, const ReplyFrame& frame) {
    http::response_header<> head;
    head.result(static_cast<unsigned>(response.status));
    head.reason(text_of(status_phrase(response.status)));
    if (frame.close || (response.has_open_end() && frame.http_1_0)) {
        head.set(http::field::connection, "close");
    } else if (frame.http_1_0) {
        head.set(http::field::connection, "keep-alive");
    }
    if (!response.content_type.empty()) {
        head.set(http::field::content_type, response.content_type);
    }
    for (const auto& [name, value] : response.headers) {
        head.insert(name, value);
    }
    if (head.count(http::field::cache_control) == 0) {
        head.set(http::field::cache_control, "no-store");
    }
    // For browsers: a page of another origin can neither run nor embed what this server sends.
    for (const auto& [name, value] :
         {std::pair{"X-Content-Type-Options", "nosniff"}, std::pair{"Cross-Origin-Resource-Policy", "same-origin"}}) {
        if (head.count(name) == 0) {
            head.set(name, value);
        }
    }
    set_framing(head, response, frame);
    return boost::beast::buffers_to_string(http::fields::writer(head, head.version(), head.result_int()).get());
}

}  // namespace

HttpReply reply_of(HttpResponse&& response, const ReplyFrame& frame) {
    HttpReply reply;
    reply.bytes = head_of(response, frame);
    if (frame.head_only || !has_body(response)) {
        return reply;
    }
    reply.chunked = response.has_open_end() && !frame.http_1_0;
    reply.is_stream = response.stream != nullptr;
    if (response.has_open_end()) {
        reply.pull = std::move(reply.is_stream ? response.stream : response.pieces);
    } else if (response.shared_body) {
        reply.shared = std::move(response.shared_body);
    } else if (response.body.size() > HttpBudget::small_body_bytes_max) {
        reply.shared = std::make_shared<const std::string>(std::move(response.body));
    } else {
        reply.bytes += response.body;
    }
    return reply;
}

void append_chunk(std::string& out, std::string_view bytes) {
    out += boost::beast::buffers_to_string(http::make_chunk(boost::asio::buffer(bytes)));
}

std::string refusal_bytes(int status, std::string detail, std::string instance, bool head_only) {
    HttpResponse problem = problem_response({status, std::move(detail), std::move(instance)});
    if (status == 503) {
        problem.headers.emplace_back("Retry-After", std::to_string(retry_after_s));
    }
    return reply_of(std::move(problem), {.close = true, .head_only = head_only}).bytes;
}

}  // namespace telegate
