#include "http/http_connection.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t read_bytes_max = 16 * 1024;
constexpr std::size_t kept_bytes_max = 16 * 1024;  // of memory, between two requests
// Of a body in one call of serve(): a piece that takes a millisecond to make, or what takes as long to send.
constexpr std::size_t piece_bytes_max = 16 * 1024;
constexpr std::size_t send_bytes_max = 256 * 1024;
// Reads and requests in one call of serve(), so that a peer that sends without end does not keep a worker.
constexpr std::size_t turns_max = 32;

// The length of the head at the front of `in`, its empty line included; npos when it is not complete. A line may end in
// a bare LF here: such a head is complete too, and refused by who reads it.
std::size_t head_bytes(std::string_view in) {
    for (std::size_t end = in.find('\n'); end != std::string_view::npos; end = in.find('\n', end + 1)) {
        const std::string_view rest = in.substr(end + 1);
        if (rest.starts_with("\r\n") || rest.starts_with('\n')) {
            return end + 1 + (rest.front() == '\r' ? 2 : 1);
        }
    }
    return std::string_view::npos;
}

// The path in the request line at the front of `in`; "" when the line is not complete, or asks for something else.
std::string_view path_asked_for(std::string_view in) {
    const std::string_view line = in.substr(0, std::min(in.find('\n'), in.size()));
    const std::size_t begin = line.find(' ') + 1;
    const std::size_t end = line.find_first_of(" ?", begin);
    const bool known = line.size() < in.size() && begin > 0 && end != std::string_view::npos && line[begin] == '/';
    return known ? line.substr(begin, end - begin) : std::string_view();
}

}  // namespace

HttpConnection::HttpConnection(std::unique_ptr<HttpSocket> socket, HttpPeer peer, HttpBudget& budget, MonoTime now)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      budget_(budget),
      deadline_(now + budget.limits.request_time) {}

HttpConnection::~HttpConnection() {
    budget_.give_body(body_bytes_taken_);
    drop_response();
}

HttpConnection::Wants HttpConnection::serve(HttpEngine& engine, const Turn& turn) {
    drained_ = false;
    for (std::size_t count = 0; count < turns_max; ++count) {
        switch (opened_ ? step(engine, turn) : open()) {
            case Step::forward: break;
            case Step::again: return Wants::again;
            case Step::stay: return Wants::news;
            case Step::queue: return Wants::turn;
            case Step::close: return Wants::close;
        }
    }
    return Wants::again;
}

void HttpConnection::wake_stream() noexcept {
    if (stream_) {
        stream_->wake();
    }
}

void HttpConnection::end_stream(MonoTime now) noexcept {
    try {
        if (stream_ && !stream_->ended()) {
            stream_->finish(out_.bytes);
            (void)flush(now);
        }
    } catch (const std::bad_alloc&) {  // its connection is about to close anyway
    }
}

HttpClaim HttpConnection::claim(MonoTime now) const noexcept {
    using Standing = HttpClaim::Standing;
    if (phase_ == Phase::response && now - taken_at_ >= budget_.limits.stuck_after) {
        return {Standing::stuck, taken_at_};
    }
    if (goes_first_ && phase_ != Phase::lingering) {
        return {Standing::first, deadline_};
    }
    switch (phase_) {
        case Phase::idle:
        case Phase::lingering: return {Standing::resting, deadline_};
        case Phase::response: return {Standing::taking, taken_at_};
        case Phase::request:
        case Phase::queued:
        case Phase::streaming: break;  // streams have places of their own
    }
    return {Standing::asking, deadline_};
}

MonoTime HttpConnection::speaks_at() const noexcept {
    if (phase_ == Phase::queued) {
        return deadline_;
    }
    return stream_ && out_.bytes.empty() ? stream_->speaks_at() : MonoTime::max();
}

HttpConnection::Step HttpConnection::open() {
    const Progress progress = socket_->open();
    if (progress == Progress::some) {
        opened_ = true;
        peer_.certificate = socket_->tls() != nullptr ? socket_->tls()->peer_name() : std::string();
        return Step::forward;
    }
    return progress == Progress::none ? Step::stay : Step::close;
}

// One thing: an answer, or a piece of one, or some bytes from the peer.
HttpConnection::Step HttpConnection::step(HttpEngine& engine, const Turn& turn) {
    if (phase_ == Phase::lingering) {
        in_.clear();
    } else if (const Step flushed = flush(turn.now); flushed != Step::forward) {
        return flushed;
    } else if (out_.pieces) {
        add_piece();
        return Step::again;
    } else if (stream_) {
        in_.clear();  // whoever has asked for a stream has no more to say
        fill_stream(turn.now);
        if (!out_.bytes.empty() || last_) {
            return Step::forward;
        }
    } else if (last_) {
        // Closing with unread bytes would reset the connection and could take the response from the peer.
        socket_->end();
        start(Phase::lingering, turn.now);
    } else if (take_request(engine, turn)) {
        return Step::forward;
    } else if (phase_ == Phase::queued) {
        return Step::queue;
    }
    return drained_ && !turn.ended ? Step::stay : receive();
}

void HttpConnection::start(Phase phase, MonoTime now) {
    const HttpLimits& limits = budget_.limits;
    phase_ = phase;
    switch (phase) {
        case Phase::request: deadline_ = now + limits.request_time; break;
        case Phase::queued: deadline_ = now + limits.queue_time; break;
        case Phase::idle: deadline_ = now + limits.idle_time; break;
        case Phase::response:
            deadline_ = now + limits.response_time;
            taken_at_ = now;
            break;
        case Phase::streaming: deadline_ = now + limits.stream_stall; break;
        case Phase::lingering: deadline_ = now + limits.linger_time; break;
    }
}

HttpConnection::Step HttpConnection::receive() {
    std::array<char, read_bytes_max> bytes;
    const HttpSocket::Moved received = socket_->receive(bytes.data(), bytes.size());
    if (received.progress != Progress::some) {
        return received.progress == Progress::none ? Step::stay : Step::close;
    }
    in_.append(bytes.data(), received.bytes);
    drained_ = received.bytes < bytes.size() && socket_->short_is_all();
    return Step::forward;
}

// forward: nothing is left to send. again: there is, when others have had their turn.
HttpConnection::Step HttpConnection::flush(MonoTime now) {
    const std::string_view shared = out_.shared ? std::string_view(*out_.shared) : std::string_view();
    const std::size_t sent_max = out_sent_ + send_bytes_max;
    while (out_sent_ < out_.bytes.size() + shared.size()) {
        if (out_sent_ >= sent_max) {
            return Step::again;
        }
        const std::size_t own = std::min(out_sent_, out_.bytes.size());
        const HttpSocket::Moved sent =
            socket_->send(std::string_view(out_.bytes).substr(own), shared.substr(out_sent_ - own, send_bytes_max));
        if (sent.progress != Progress::some) {
            return sent.progress == Progress::none ? Step::stay : Step::close;
        }
        out_sent_ += sent.bytes;
        taken_at_ = now;
    }
    if (out_sent_ > 0) {
        forget_sent();
    }
    return Step::forward;
}

void HttpConnection::forget_sent() {
    drop_response();
    out_.bytes.clear();
    out_sent_ = 0;
    if (out_.bytes.capacity() > kept_bytes_max) {
        out_.bytes = {};  // a large answer's memory goes with it
    }
}

void HttpConnection::skip_body() {
    const std::size_t skipped = std::min(body_bytes_left_, in_.size());
    in_.erase(0, skipped);
    body_bytes_left_ -= skipped;
    if (in_.empty() && in_.capacity() > kept_bytes_max) {
        in_ = {};
    }
}

// Whether there is something to send: a whole request, or a hopeless one, has come.
bool HttpConnection::take_request(HttpEngine& engine, const Turn& turn) {
    skip_body();
    if (wanted_bytes_ == 0) {
        in_.erase(0, in_.find_first_not_of("\r\n"));  // RFC 9112, 2.2: empty lines before a request line are skipped
    }
    const std::size_t head_max = budget_.limits.head_bytes_max;
    const std::size_t head = head_bytes(std::string_view(in_).substr(0, head_max));
    if (in_.size() < wanted_bytes_ || (head == std::string_view::npos && in_.size() < head_max)) {
        wait_for_request(turn.now);
        return false;
    }
    if (head != std::string_view::npos) {
        return answer(engine, turn, head);
    }
    refuse_long_head();
    start(Phase::response, turn.now);
    return true;
}

bool HttpConnection::answer(HttpEngine& engine, const Turn& turn, std::size_t head_bytes) {
    const std::string_view in = in_;
    const HttpInput input{in.substr(0, head_bytes), in.substr(head_bytes), peer_,
                          turn.stopping || requests_ + 1 >= budget_.limits.requests_max, turn.may_answer};
    const HttpOutcome outcome = engine.respond(input, out_);
    if (outcome.waiting) {
        wanted_bytes_ = head_bytes + outcome.body_bytes;
        return wait_for_body(outcome, turn.now);
    }
    if (outcome.queued) {
        return wait_in_queue(turn.now);
    }
    ++requests_;
    goes_first_ = outcome.goes_first;
    budget_.give_body(std::exchange(body_bytes_taken_, 0));
    wanted_bytes_ = 0;
    last_ = outcome.close;
    body_bytes_left_ = outcome.body_bytes;
    start(Phase::response, turn.now);
    take_response();
    if (out_.stream) {
        begin_stream(turn.now);
    }
    in_.erase(0, head_bytes);
    return true;
}

// Whether there is something to send.
bool HttpConnection::wait_in_queue(MonoTime now) {
    if (phase_ != Phase::queued) {
        start(Phase::queued, now);
    }
    if (now < deadline_) {
        return false;
    }
    budget_.note_refused_request();
    refuse(503, "the gateway is busy with other requests");
    start(Phase::response, now);
    return true;
}

// Whether there is something to send.
bool HttpConnection::wait_for_body(const HttpOutcome& outcome, MonoTime now) {
    if (!budget_.take_body(outcome.body_bytes)) {
        refuse(503, "too many large requests at once");
        start(Phase::response, now);
        return true;
    }
    body_bytes_taken_ = outcome.body_bytes;
    wait_for_request(now);
    if (!outcome.expects_continue) {
        return false;
    }
    out_.bytes = "HTTP/1.1 100 Continue\r\n\r\n";
    return true;
}

// A large body is sent only while those of all connections are within their limit.
void HttpConnection::take_response() {
    if (!out_.shared || out_.shared->size() <= HttpBudget::small_body_bytes_max) {
        return;
    }
    has_response_ = budget_.take_response(*out_.shared);
    if (!has_response_) {
        out_.shared.reset();
        refuse(503, "too many bytes of responses are waiting to be read; the limit is " +
                        std::to_string(budget_.limits.responses_bytes_max));
    }
}

void HttpConnection::drop_response() noexcept {
    if (std::exchange(has_response_, false)) {
        budget_.give_response(std::move(out_.shared));
    }
    out_.shared.reset();
}

void HttpConnection::add_piece() {
    std::string piece;
    const bool is_last = !out_.pieces(piece, piece_bytes_max);
    if (!out_.chunked) {
        out_.bytes = std::move(piece);
    } else if (!piece.empty()) {
        append_chunk(out_.bytes, piece);
    }
    if (is_last) {
        out_.bytes.append(out_.chunked ? last_chunk : "");
        out_.pieces = nullptr;
    }
}

void HttpConnection::begin_stream(MonoTime now) {
    StreamPull pull = std::exchange(out_.stream, nullptr);
    if (!budget_.take_stream()) {
        out_.bytes.clear();  // the head that was to begin the stream
        refuse(503, "there are " + std::to_string(budget_.limits.streams_max) +
                        " streams already, the most that may be (setting streams_max)");
        return;
    }
    stream_.emplace(std::move(pull), out_.chunked, budget_, now);
    start(Phase::streaming, now);
}

void HttpConnection::fill_stream(MonoTime now) {
    deadline_ = MonoTime::max();  // all that was said has been taken: it may be silent for as long as it likes
    if (stream_->ended()) {
        last_ = true;
        stream_.reset();
        return;
    }
    const bool spoke = stream_->fill(out_.bytes, now);
    if (stream_->ended()) {
        stream_->finish(out_.bytes);
    }
    if (spoke || stream_->ended()) {
        start(Phase::streaming, now);
    }
}

// The time of a phase counts from its beginning, whatever trickles in meanwhile.
void HttpConnection::wait_for_request(MonoTime now) {
    const bool between_requests = in_.empty() && body_bytes_left_ == 0 && requests_ > 0;
    const Phase phase = between_requests ? Phase::idle : Phase::request;
    if (phase_ != phase) {
        start(phase, now);
    }
}

// While the request line is still in in_.
void HttpConnection::refuse(int status, std::string detail) {
    out_.bytes = refusal_bytes(status, std::move(detail), std::string(path_asked_for(in_)));
    last_ = true;
}

void HttpConnection::refuse_long_head() {
    const bool in_target = in_.find('\n') == std::string::npos;
    refuse(in_target ? 414 : 431,
           "the head of a request may have at most " + std::to_string(budget_.limits.head_bytes_max) + " bytes");
}

}  // namespace telegate
