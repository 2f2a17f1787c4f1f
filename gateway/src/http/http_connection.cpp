#include "http/http_connection.hpp"

#include "http/http_text.hpp"
#include "http/problem.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>

namespace telegate {
namespace {

constexpr std::size_t kept_bytes_max = 16 * 1024;  // of buffer memory between two requests
// Work per step: creating a part of a body of this size takes about a millisecond, as does sending that many bytes.
constexpr std::size_t pull_bytes_max = 16 * 1024;
constexpr std::size_t send_bytes_max = 256 * 1024;
constexpr std::size_t target_bytes_max = 8 * 1024;        // the limit that browsers and proxies commonly use
constexpr std::string_view comment = ": keep-alive\n\n";  // of a stream without data

MonoTime now_is() noexcept {
    return std::chrono::steady_clock::now();
}

// Returns the length of the head at the front of `in`, including its empty line, or npos if it is incomplete. A line
// may end in a bare LF here: such a head counts as complete and is refused by read_head().
std::size_t head_bytes_of(std::string_view in) {
    for (std::size_t end = in.find('\n'); end != std::string_view::npos; end = in.find('\n', end + 1)) {
        const std::string_view rest = in.substr(end + 1);
        if (rest.starts_with("\r\n") || rest.starts_with('\n')) {
            return end + 1 + (rest.front() == '\r' ? 2 : 1);
        }
    }
    return std::string_view::npos;
}

// Returns the path in the request line at the front of `in`, or "" if the line is incomplete or its target is not a
// path.
std::string_view requested_path(std::string_view in) {
    const std::string_view line = in.substr(0, std::min(in.find('\n'), in.size()));
    const std::size_t begin = line.find(' ') + 1;
    const std::size_t end = line.find_first_of(" ?", begin);
    const bool known = line.size() < in.size() && begin > 0 && end != std::string_view::npos && line[begin] == '/';
    return known ? line.substr(begin, end - begin) : std::string_view();
}

bool takes_body(std::string_view method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

HttpConnection::HttpConnection(std::unique_ptr<HttpSocket> socket, HttpPeer peer, boost::asio::io_context& io,
                               HttpHost& host)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      client_(client_of(peer_)),
      host_(host),
      limits_(host.budget.limits),
      timer_(io),
      is_opened_(!socket_->has_handshake()) {}

HttpConnection::~HttpConnection() {
    host_.budget.release_body(body_bytes_taken_);
    drop_response();
    end_stream();
    host_.forget(*this);
}

template <typename Action>
void HttpConnection::guarded(const Action& action) noexcept {
    try {
        action();
    } catch (const std::exception&) {  // the source of a stream failed; other connections continue
        close();
    }
}

HttpDone HttpConnection::done(void (HttpConnection::*next)(bool, std::size_t)) {
    return {shared_from_this(), next};
}

void HttpConnection::open() noexcept {
    guarded([&] {
        start(Phase::request);
        socket_->open(done(&HttpConnection::opened));
    });
}

void HttpConnection::close() noexcept {
    phase_ = Phase::closed;
    timer_.cancel();
    socket_->close();
}

void HttpConnection::displace() noexcept {
    close();
    end_stream();
    release_response();
}

void HttpConnection::start(Phase phase) {
    const MonoTime now = now_is();
    phase_ = phase;
    since_ = now;
    switch (phase) {
        case Phase::request: deadline_ = now + limits_.request_time; break;
        case Phase::queued: deadline_ = now + limits_.queue_time; break;
        case Phase::idle: deadline_ = now + limits_.idle_time; break;
        case Phase::response: deadline_ = now + limits_.response_time; break;
        case Phase::streaming: deadline_ = now + limits_.stream_stall; break;
        case Phase::lingering: deadline_ = now + limits_.linger_time; break;
        case Phase::answering:  // ends when the handler returns
        case Phase::closed: deadline_ = MonoTime::max(); break;
    }
    wait_until(deadline_);
}

// Replaces the previous wait.
void HttpConnection::wait_until(MonoTime time) {
    timer_.expires_at(time);
    if (time != MonoTime::max()) {
        timer_.async_wait(done(&HttpConnection::expired));
    }
}

void HttpConnection::opened(bool ok, std::size_t /*bytes*/) {
    guarded([&] {
        if (!ok) {
            return close();
        }
        is_opened_ = true;
        peer_.certificate = socket_->peer_name();
        go_on();
    });
}

void HttpConnection::received(bool ok, std::size_t bytes) {
    is_receiving_ = false;
    guarded([&] {
        if (!ok || phase_ == Phase::closed) {
            return close();
        }
        if (is_streaming_ || phase_ == Phase::lingering) {
            return receive();  // the data is discarded; only the end of the connection matters
        }
        in_.append(received_.data(), bytes);
        go_on();
    });
}

void HttpConnection::sent(bool ok, std::size_t bytes) {
    guarded([&] {
        if (!ok || phase_ == Phase::closed) {
            return close();
        }
        out_sent_ += bytes;
        since_ = now_is();
        if (out_sent_ == out_.bytes.size() + (out_.shared ? out_.shared->size() : 0)) {
            drop_response();
            out_.bytes = {};
            out_sent_ = 0;
        }
        go_on();
    });
}

void HttpConnection::ended(bool /*ok*/, std::size_t /*bytes*/) {
    guarded([&] { phase_ == Phase::closed ? close() : receive(); });
}

void HttpConnection::expired(bool ok, std::size_t /*bytes*/) {
    if (!ok || phase_ == Phase::closed) {
        return;
    }
    guarded([&] {
        const bool is_over = now_is() >= deadline_;  // if not, another phase has begun in the meantime
        if (phase_ == Phase::queued && is_over) {
            host_.budget.count_refused_request();
            refuse(503, "the gateway is busy with other requests");
            go_on();
        } else if (is_over) {
            close();
        } else if (is_streaming_ && out_.bytes.empty() && !is_resuming_) {
            go_on();
        }
    });
}

void HttpConnection::resumed(bool /*ok*/, std::size_t /*bytes*/) {
    is_resuming_ = false;
    guarded([&] { go_on(); });
}

void HttpConnection::receive() {
    if (!std::exchange(is_receiving_, true)) {
        socket_->receive(received_, done(&HttpConnection::received));
    }
}

void HttpConnection::send() {
    const std::string_view shared = out_.shared ? std::string_view(*out_.shared) : std::string_view();
    const std::size_t own = std::min(out_sent_, out_.bytes.size());
    socket_->send({boost::asio::buffer(std::string_view(out_.bytes).substr(own)),
                   boost::asio::buffer(shared.substr(out_sent_ - own, send_bytes_max))},
                  done(&HttpConnection::sent));
}

// Continues with the next step until there is something to wait for. No send or handler call is outstanding.
void HttpConnection::go_on() {
    while (phase_ != Phase::closed) {
        if (!out_.bytes.empty() || out_.shared) {
            return send();
        }
        if (out_.pull) {
            if (!pull()) {
                return receive();
            }
            if (out_.bytes.empty() && out_.pull) {  // more was examined than there was to send: others go first
                is_resuming_ = true;
                return boost::asio::post(timer_.get_executor(), done(&HttpConnection::resumed));
            }
        } else if (is_last_) {
            return linger();
        } else if (!parse_request()) {
            return;
        }
    }
}

// Appends the next part of the body to the output. Returns false if a stream has no data now.
bool HttpConnection::pull() {
    std::string part;
    const StreamState state = may_pull_ ? out_.pull(part, pull_bytes_max) : StreamState::waiting;
    may_pull_ = state == StreamState::more;
    const MonoTime now = now_is();
    if (part.empty() && state == StreamState::waiting) {
        if (now < comment_at_) {
            deadline_ = MonoTime::max();  // the client has received everything, so the stream may stay idle
            wait_until(comment_at_);
            return false;
        }
        part = comment;
    }
    if (!out_.chunked) {
        out_.bytes = std::move(part);
    } else if (!part.empty()) {
        append_chunk(out_.bytes, part);
    }
    if (is_streaming_) {
        comment_at_ = now + limits_.stream_silence;
        start(Phase::streaming);
    }
    if (state == StreamState::ended) {
        end_pull();
    }
    return true;
}

void HttpConnection::end_pull() {
    out_.bytes.append(out_.chunked ? last_chunk : "");
    out_.pull = nullptr;
    is_last_ = is_last_ || is_streaming_;
}

void HttpConnection::begin_stream() {
    if (!host_.budget.reserve_stream() && !(host_.end_a_stream(client_) && host_.budget.reserve_stream())) {
        out_.pull = nullptr;
        return refuse(503, "too many event streams: must be at most " + std::to_string(limits_.streams_max) +
                               " (setting streams_max)");
    }
    is_streaming_ = true;
    comment_at_ = now_is() + limits_.stream_silence;
    host_.wake_streams();  // a wake-up may have come while the stream began
    start(Phase::streaming);
}

void HttpConnection::end_stream() noexcept {
    if (std::exchange(is_streaming_, false)) {
        host_.budget.release_stream();
    }
}

// Closing with unread bytes would reset the connection, and the peer could lose the response.
void HttpConnection::linger() {
    end_stream();
    start(Phase::lingering);
    in_ = {};
    socket_->end(done(&HttpConnection::ended));
}

void HttpConnection::wake_stream() noexcept {
    if (is_streaming_) {
        may_pull_ = true;
        if (out_.bytes.empty() && !is_resuming_) {
            guarded([&] { go_on(); });
        }
    }
}

void HttpConnection::finish() noexcept {
    guarded([&] {
        if (is_streaming_ && out_.bytes.empty()) {
            end_pull();
            if (!out_.bytes.empty()) {
                send();
            }
        }
    });
    close();
}

std::optional<HttpClaim> HttpConnection::claim(MonoTime now) const noexcept {
    using Standing = HttpClaim::Standing;
    if (phase_ == Phase::answering || phase_ == Phase::streaming || phase_ == Phase::closed) {
        return std::nullopt;  // streams have their own limit
    }
    if (phase_ == Phase::response && is_stuck(now)) {
        return HttpClaim{Standing::stuck, since_};
    }
    if (!is_opened_) {
        return HttpClaim{Standing::opening, since_};
    }
    if (phase_ == Phase::lingering || (phase_ == Phase::idle && !goes_first_)) {
        return HttpClaim{Standing::resting, since_};
    }
    return HttpClaim{phase_ == Phase::response ? Standing::taking : Standing::requesting, since_};
}

bool HttpConnection::is_stuck(MonoTime now) const noexcept {
    const bool is_sending = phase_ == Phase::response || (phase_ == Phase::streaming && !out_.bytes.empty());
    return is_sending && now - since_ >= limits_.stuck_after;
}

void HttpConnection::skip_body() {
    const std::size_t skipped = std::min(body_bytes_left_, in_.size());
    in_.erase(0, skipped);
    body_bytes_left_ -= skipped;
    if (in_.empty() && in_.capacity() > kept_bytes_max) {
        in_ = {};
    }
}

// Returns whether there is something to send; if not, the connection waits for bytes or for a worker.
bool HttpConnection::parse_request() {
    if (head_bytes_ == 0) {
        skip_body();
        in_.erase(0, in_.find_first_not_of("\r\n"));  // RFC 9112, 2.2: empty lines before a request line are skipped
        const std::size_t head_bytes = head_bytes_of(std::string_view(in_).substr(0, limits_.head_bytes_max));
        if (head_bytes == std::string_view::npos && in_.size() < limits_.head_bytes_max) {
            wait_for_request();
            return false;
        }
        if (HeadFault fault = parse_head(head_bytes); fault.status != 0) {
            refuse(fault.status, std::move(fault.why));
            return true;
        }
        if (head_.expects_continue && !head_.http_1_0 && body_bytes_ > 0 && in_.size() == head_bytes_) {
            out_.bytes = "HTTP/1.1 100 Continue\r\n\r\n";
            return true;
        }
    }
    if (in_.size() < head_bytes_ + body_bytes_) {
        wait_for_request();
    } else {
        hand_over();
    }
    return false;
}

HeadFault HttpConnection::parse_head(std::size_t head_bytes) {
    if (head_bytes == std::string_view::npos) {
        return {in_.find('\n') == std::string::npos ? 414 : 431,
                "request head too large: must be at most " + std::to_string(limits_.head_bytes_max) + " bytes"};
    }
    if (HeadFault fault = read_head(std::string_view(in_).substr(0, head_bytes), head_); fault.status != 0) {
        return fault;
    }
    if (head_.target.size() > target_bytes_max) {
        return {414, "request target too long: must be at most " + std::to_string(target_bytes_max) + " bytes"};
    }
    if (head_.body_bytes > limits_.body_bytes_max) {
        return {413, "request body too large: must be at most " + std::to_string(limits_.body_bytes_max) + " bytes"};
    }
    identity_ = host_.calls.identify ? host_.calls.identify(peer_, head_.field("authorization"))
                                     : HttpIdentity{HttpRole::admin, peer_.address};
    const auto body_bytes = static_cast<std::size_t>(head_.body_bytes);
    body_bytes_ = takes_body(head_.method) && identity_.role == HttpRole::admin ? body_bytes : 0;
    if (in_.size() - head_bytes < body_bytes_) {
        if (!host_.budget.reserve_body(body_bytes_)) {
            return {503, "too many large requests at once"};
        }
        body_bytes_taken_ = body_bytes_;
    }
    head_bytes_ = head_bytes;
    return {};
}

// Passes the complete request to the handler.
void HttpConnection::hand_over() {
    // A peer that expects a 100 may or may not send its body after a final response, so the start of its next request
    // is unknown.
    is_last_ = host_.is_stopping() || requests_ + 1 >= limits_.requests_max || !head_.keep_alive ||
               (head_.expects_continue && body_bytes_ < head_.body_bytes);
    path_ = percent_decoded(head_.target.substr(0, head_.target.find_first_of("?#")), false);
    goes_first_ = host_.calls.goes_first && host_.calls.goes_first(path_);
    if (!goes_first_) {
        start(Phase::queued);
        return host_.queue(shared_from_this());
    }
    phase_ = Phase::answering;
    (void)answer();
    end_answer();
}

// The deadline of a phase counts from the start of the phase, even if bytes arrive slowly.
void HttpConnection::wait_for_request() {
    const bool is_between_requests = in_.empty() && body_bytes_left_ == 0 && requests_ > 0;
    const Phase phase = is_between_requests ? Phase::idle : Phase::request;
    if (phase_ != phase) {
        start(phase);
    }
    receive();
}

bool HttpConnection::begin_answer() noexcept {
    if (phase_ != Phase::queued) {
        return false;
    }
    phase_ = Phase::answering;
    deadline_ = MonoTime::max();
    self_ = shared_from_this();
    return true;
}

std::function<void(HttpAnswer)> HttpConnection::answer() noexcept {
    HttpResponse response = call_handler();
    if (response.later) {
        return std::move(response.later);
    }
    answer(std::move(response));
    return nullptr;
}

void HttpConnection::answer(HttpResponse response) noexcept {
    is_last_ = is_last_ || (response.has_open_end() && head_.http_1_0);
    out_ = reply_of(std::move(response),
                    {.close = is_last_, .http_1_0 = head_.http_1_0, .head_only = head_.method == "HEAD"});
}

HttpResponse HttpConnection::call_handler() {
    try {
        const auto body = std::string_view(in_).substr(head_bytes_, body_bytes_);
        return host_.calls.handler({head_.method, path_, head_.target, body, identity_.role, identity_.who,
                                    [this](std::string_view name) { return head_.field(name); }, &peer_});
    } catch (const std::exception&) {  // what() may name files or addresses that clients must not see
        return problem_response({500, "cannot process the request: internal error", std::string(head_.target)});
    }
}

void HttpConnection::end_answer() noexcept {
    const auto self = std::move(self_);
    guarded([&] {
        if (phase_ == Phase::closed || out_.bytes.empty()) {
            return close();
        }
        ++requests_;
        start(Phase::response);
        reserve_response();
        may_pull_ = true;
        if (out_.is_stream) {
            begin_stream();
        }
        host_.budget.release_body(std::exchange(body_bytes_taken_, 0));
        body_bytes_left_ = static_cast<std::size_t>(head_.body_bytes);
        in_.erase(0, std::exchange(head_bytes_, 0));
        go_on();
    });
}

// Sends a large body only while the bodies of all connections are within the limit.
void HttpConnection::reserve_response() {
    if (!out_.shared || out_.shared->size() <= HttpBudget::small_body_bytes_max) {
        return;
    }
    has_response_ = host_.budget.reserve_response(*out_.shared) ||
                    (host_.end_a_response() && host_.budget.reserve_response(*out_.shared));
    if (!has_response_) {
        out_.shared.reset();
        refuse(503, "too many response bytes are waiting to be read: must be at most " +
                        std::to_string(limits_.responses_bytes_max));
    }
}

void HttpConnection::release_response() noexcept {
    if (std::exchange(has_response_, false)) {
        host_.budget.release_response(out_.shared);
    }
}

void HttpConnection::drop_response() noexcept {
    if (std::exchange(has_response_, false)) {
        host_.budget.release_response(std::move(out_.shared));
    }
    out_.shared.reset();
}

// Requires that the request line is still at the front of in_.
void HttpConnection::refuse(int status, std::string detail) {
    out_.bytes = refusal_bytes(status, std::move(detail), std::string(requested_path(in_)), in_.starts_with("HEAD "));
    is_last_ = true;
    start(Phase::response);
}

}  // namespace telegate
