#include "http_engine.hpp"

#include "problem.hpp"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace telegate {
namespace {

using httplib::Request;
using httplib::Response;
using Handled = httplib::Server::HandlerResponse;

/// The two ends of one exchange in memory.
class MemoryStream final : public httplib::Stream {
  public:
    MemoryStream(std::string_view in, std::string& out) : in_(in), out_(out) {}

    bool is_readable() const override { return !in_.empty(); }
    bool is_writable() const override { return true; }
    ssize_t read(char* data, std::size_t bytes_max) override {
        const std::size_t bytes = std::min(bytes_max, in_.size());
        std::memcpy(data, in_.data(), bytes);
        in_.remove_prefix(bytes);
        return static_cast<ssize_t>(bytes);
    }
    ssize_t write(const char* data, std::size_t bytes) override {
        out_.append(data, bytes);
        return static_cast<ssize_t>(bytes);
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return INVALID_SOCKET; }

  private:
    std::string_view in_;
    std::string& out_;
};

/// Where the body of a request ends, or why that cannot be told.
struct Framing {
    std::size_t body_bytes = 0;
    int refused = 0;  // the status to refuse with; 0: none
    std::string why;
};

std::optional<std::uint64_t> to_length(std::string_view text) {
    std::uint64_t length = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), length);
    return fault == std::errc() && end == text.data() + text.size() ? std::optional(length) : std::nullopt;
}

Framing framing_of(const Request& request, std::size_t body_bytes_max) {
    if (request.has_header("Transfer-Encoding")) {
        return {0, 411, "a body needs a Content-Length; Transfer-Encoding is not taken"};
    }
    const std::size_t lengths = request.get_header_value_count("Content-Length");
    if (lengths == 0) {
        return {};
    }
    const auto length = to_length(request.get_header_value("Content-Length"));
    if (lengths > 1 || !length) {
        return {0, 400, "Content-Length must be one decimal number"};
    }
    if (*length > body_bytes_max) {
        return {0, 413, "the body may have at most " + std::to_string(body_bytes_max) + " bytes"};
    }
    return {static_cast<std::size_t>(*length), 0, {}};
}

void copy(HttpResponse&& from, Response& to) {
    to.status = from.status;
    to.body = std::move(from.body);
    to.set_header("Content-Type", from.content_type);
    for (const auto& [name, value] : from.headers) {
        to.set_header(name, value);
    }
}

}  // namespace

// The library's server, used for parsing, percent-decoding and writing only. Its own loop gives every connection a
// worker for as long as it is open, idle or not, and looks at idle ones a hundred times a second.
struct HttpEngine::State final : private httplib::Server {
    State(HttpHandler given_handler, std::size_t given_body_bytes_max);
    HttpOutcome respond(std::string_view head, bool last, std::string& out);

  private:
    void prepare(Request& request);
    void answer(const Request& request, Response& response);
    HttpResponse call_handler(const Request& request);
    static void explain(const Request& request, Response& response);
    void finish(Response& response) const;

    const HttpHandler handler_;
    const std::size_t body_bytes_max_;
    Framing framing_;    // of the request in hand
    bool close_ = true;  // after the request in hand; true until its head has been understood
};

HttpEngine::State::State(HttpHandler given_handler, std::size_t given_body_bytes_max)
    : handler_(std::move(given_handler)), body_bytes_max_(given_body_bytes_max) {
    set_pre_routing_handler([this](const Request& request, Response& response) {
        answer(request, response);
        return Handled::Handled;
    });
    set_error_handler(httplib::Server::Handler(&State::explain));
    set_post_routing_handler([this](const Request&, Response& response) { finish(response); });
}

HttpOutcome HttpEngine::State::respond(std::string_view head, bool last, std::string& out) {
    framing_ = {};
    close_ = true;
    bool closed_by_peer = false;
    MemoryStream stream(head, out);
    const bool written = process_request(stream, last, closed_by_peer, [this, last, &closed_by_peer](Request& request) {
        prepare(request);
        close_ = close_ || last || closed_by_peer;
    });
    return {close_ || !written, framing_.body_bytes};
}

// Called when the head has been parsed, before anything is done with it.
void HttpEngine::State::prepare(Request& request) {
    framing_ = framing_of(request, body_bytes_max_);
    // A peer that expects a 100 may or may not send its body after a final answer, so its next request cannot be found.
    close_ = framing_.refused != 0 || request.has_header("Expect");
    request.headers.erase("Expect");
    // Parts and compressed forms of an answer cost the daemon more than the answer; many ranges are an old attack.
    request.ranges.clear();
    request.headers.erase("Accept-Encoding");
}

void HttpEngine::State::answer(const Request& request, Response& response) {
    if (framing_.refused != 0) {
        copy(problem_response({framing_.refused, framing_.why, request.target}), response);
        return;
    }
    copy(call_handler(request), response);
}

HttpResponse HttpEngine::State::call_handler(const Request& request) {
    try {
        return handler_({request.method, request.path, request.target});
    } catch (const std::exception&) {  // what() may name files or addresses that are not for every client
        return problem_response({500, "the gateway could not answer this request", request.target});
    }
}

// Refusals that come from the library itself have a status only.
void HttpEngine::State::explain(const Request& request, Response& response) {
    if (response.body.empty()) {
        const char* detail = response.status == 414   ? "the request target is too long"
                             : response.status == 416 ? "the Range field is not valid"
                                                      : "this is not an HTTP/1.1 request";
        copy(problem_response({response.status, detail, request.target}), response);
    }
}

void HttpEngine::State::finish(Response& response) const {
    response.headers.erase("Accept-Ranges");
    response.headers.erase("Keep-Alive");  // says the library's own limits, which are not in force
    response.headers.erase("Connection");
    if (close_) {
        response.headers.emplace("Connection", "close");
    }
    response.headers.emplace("Cache-Control", "no-store");
    response.headers.erase("Content-Length");
    response.headers.emplace("Content-Length", std::to_string(response.body.size()));
}

HttpEngine::HttpEngine(HttpHandler handler, std::size_t body_bytes_max)
    : state_(std::make_unique<State>(std::move(handler), body_bytes_max)) {}

HttpEngine::~HttpEngine() = default;

HttpOutcome HttpEngine::respond(std::string_view head, bool last, std::string& out) {
    return state_->respond(head, last, out);
}

std::string refusal_bytes(int status, std::string detail) {
    const HttpResponse problem = problem_response({status, std::move(detail), ""});
    std::string bytes = "HTTP/1.1 " + std::to_string(status) + ' ' + std::string(status_phrase(status)) + "\r\n";
    bytes += "Connection: close\r\nContent-Type: " + problem.content_type + "\r\n";
    bytes += "Content-Length: " + std::to_string(problem.body.size()) + "\r\n\r\n";
    return bytes + problem.body;
}

}  // namespace telegate
