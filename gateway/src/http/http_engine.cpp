#include "http/http_engine.hpp"

#include "http/http_head.hpp"
#include "http/problem.hpp"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <forward_list>
#include <optional>
#include <utility>

namespace telegate {
namespace {

using httplib::Request;
using httplib::Response;
using Handled = httplib::Server::HandlerResponse;

constexpr std::array<std::string_view, 9> methods{"GET",   "HEAD",    "POST",  "PUT",    "DELETE",
                                                  "PATCH", "OPTIONS", "TRACE", "CONNECT"};
constexpr std::array<std::string_view, 3> methods_with_body{"POST", "PUT", "PATCH"};

template <std::size_t count>
bool is_among(const std::array<std::string_view, count>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// A request in memory; what the library says to it is not needed.
class MemoryStream final : public httplib::Stream {
  public:
    explicit MemoryStream(std::string_view in) : in_(in) {}

    bool is_readable() const override { return !in_.empty(); }
    bool is_writable() const override { return true; }
    ssize_t read(char* data, std::size_t bytes_max) override {
        const std::size_t bytes = std::min(bytes_max, in_.size());
        std::memcpy(data, in_.data(), bytes);
        in_.remove_prefix(bytes);
        return static_cast<ssize_t>(bytes);
    }
    ssize_t write(const char* /*data*/, std::size_t bytes) override { return static_cast<ssize_t>(bytes); }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return INVALID_SOCKET; }

  private:
    std::string_view in_;
};

}  // namespace

// The library's server, used for its reading of targets only. Its own loop gives every connection a worker
// for as long as it is open, idle or not, and looks at idle ones a hundred times a second.
struct HttpEngine::State final : private httplib::Server {
    State(const HttpCalls& given_calls, std::size_t given_body_bytes_max);
    HttpOutcome respond(const HttpInput& input, HttpReply& reply);

  private:
    HttpOutcome refuse(int status, std::string detail, HttpReply& reply);
    HttpOutcome answer(const HttpInput& input, HttpReply& reply);
    [[nodiscard]] bool is_plain() const;
    HttpResponse ask_library();
    HttpResponse call_handler(std::string_view path);
    std::string_view field(std::string_view name);

    const HttpCalls& calls_;
    const std::size_t body_bytes_max_;
    // Of the request in hand:
    HttpHead head_;
    std::string_view body_;
    const HttpPeer* peer_ = nullptr;
    HttpIdentity identity_;
    std::optional<HttpResponse> answered_;   // by the handler, or by us in the library's stead
    std::forward_list<std::string> joined_;  // fields that came several times
};

HttpEngine::State::State(const HttpCalls& given_calls, std::size_t given_body_bytes_max)
    : calls_(given_calls), body_bytes_max_(given_body_bytes_max) {
    set_pre_routing_handler([this](const Request& request, Response& response) {
        answered_ = call_handler(request.path);
        response.status = 200;
        return Handled::Handled;
    });
    // Refusals that come from the library itself have a status only.
    set_error_handler(httplib::Server::Handler([this](const Request&, Response& response) {
        const char* const detail =
            response.status == 414 ? "the request target is too long" : "this is not an HTTP/1.1 request";
        answered_ = problem_response({response.status, detail, std::string(head_.target)});
    }));
}

HttpOutcome HttpEngine::State::respond(const HttpInput& input, HttpReply& reply) {
    if (const HeadFault fault = read_head(input.head, head_); fault.status != 0) {
        return refuse(fault.status, std::string(fault.why), reply);
    }
    if (head_.body_bytes > body_bytes_max_) {
        return refuse(413, "the body may have at most " + std::to_string(body_bytes_max_) + " bytes", reply);
    }
    peer_ = &input.peer;
    joined_.clear();
    identity_ = calls_.identify ? calls_.identify(input.peer, field("authorization"))
                                : HttpIdentity{HttpRole::admin, input.peer.address};
    return answer(input, reply);
}

HttpOutcome HttpEngine::State::refuse(int status, std::string detail, HttpReply& reply) {
    HttpResponse response = problem_response({status, std::move(detail), std::string(head_.target)});
    write_reply(std::move(response), {.close = true, .head_only = head_.method == "HEAD"}, reply);
    return {.close = true};
}

HttpOutcome HttpEngine::State::answer(const HttpInput& input, HttpReply& reply) {
    HttpOutcome outcome{.body_bytes = static_cast<std::size_t>(head_.body_bytes)};
    const bool wanted = is_among(methods_with_body, head_.method) && identity_.role == HttpRole::admin;
    if (wanted && input.rest.size() < outcome.body_bytes) {
        outcome.waiting = true;
        outcome.expects_continue = head_.expects_continue && !head_.http_1_0 && input.rest.empty();
        return outcome;
    }
    outcome.goes_first = calls_.goes_first && calls_.goes_first(head_.target.substr(0, head_.target.find('?')));
    outcome.queued = !input.may_answer && !outcome.goes_first;
    if (outcome.queued) {
        return outcome;
    }
    body_ = wanted ? input.rest.substr(0, outcome.body_bytes) : std::string_view();
    // A peer that expects a 100 may or may not send its body after a final answer, so its next request cannot be found.
    outcome.close = input.last || !head_.keep_alive || (head_.expects_continue && !wanted && outcome.body_bytes > 0);
    HttpResponse response = is_plain() ? call_handler(head_.target) : ask_library();
    outcome.close = outcome.close || (response.has_open_end() && head_.http_1_0);
    write_reply(std::move(response),
                {.close = outcome.close, .http_1_0 = head_.http_1_0, .head_only = head_.method == "HEAD"}, reply);
    return outcome;
}

// Whether the path is the target, and nothing else is to be read.
bool HttpEngine::State::is_plain() const {
    constexpr std::size_t plain_bytes_max = 1'024;
    return (head_.method == "GET" || head_.method == "HEAD") && head_.target.size() <= plain_bytes_max &&
           head_.target.find_first_of("%?#") == std::string_view::npos;
}

HttpResponse HttpEngine::State::ask_library() {
    // Only what it is to judge. It would compress for who accepts that, and wait for bodies; and what it reads of a
    // Range, as deep in its stack as the field is long, is of no use: a part of an answer costs as much as the whole.
    // What it does not know as a method is for the routes to refuse, who say which are possible.
    const std::string text = std::string(is_among(methods, head_.method) ? head_.method : "GET") + ' ' +
                             std::string(head_.target) + " HTTP/1.1\r\n\r\n";
    MemoryStream stream(text);
    bool closed = false;
    answered_.reset();
    (void)process_request(stream, true, closed, nullptr);
    return answered_ ? std::move(*answered_)
                     : problem_response({500, "the gateway could not read this request", std::string(head_.target)});
}

HttpResponse HttpEngine::State::call_handler(std::string_view path) {
    try {
        return calls_.handler({head_.method, path, head_.target, body_, identity_.role, identity_.who,
                               [this](std::string_view name) { return field(name); }, peer_});
    } catch (const std::exception&) {  // what() may name files or addresses that are not for every client
        return problem_response({500, "the gateway could not answer this request", std::string(head_.target)});
    }
}

std::string_view HttpEngine::State::field(std::string_view name) {
    if (same_name(name, "host")) {
        return head_.host;
    }
    const HttpField* const first = head_.find(name);
    if (first == nullptr) {
        return {};
    }
    std::string all(first->value);
    const HttpField* const end = head_.fields.data() + head_.fields.size();
    bool several = false;
    for (const HttpField* other = first + 1; other != end; ++other) {
        if (same_name(other->name, name)) {
            all.append(", ").append(other->value);
            several = true;
        }
    }
    return several ? std::string_view(joined_.emplace_front(std::move(all))) : first->value;
}

HttpEngine::HttpEngine(const HttpCalls& calls, std::size_t body_bytes_max)
    : state_(std::make_unique<State>(calls, body_bytes_max)) {}

HttpEngine::~HttpEngine() = default;

HttpOutcome HttpEngine::respond(const HttpInput& input, HttpReply& reply) {
    return state_->respond(input, reply);
}

}  // namespace telegate
