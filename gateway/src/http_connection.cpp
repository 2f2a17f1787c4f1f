#include "http_connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace telegate {
namespace {

constexpr std::size_t read_bytes_max = 4 * 1024;
// Reads and requests in one call of serve(), so that a peer that sends without end does not keep a worker.
constexpr std::size_t turns_max = 32;

// The length of the head at the front of `in`, its empty line included; npos when it is not complete. A line may end in
// a bare LF here: such a head is complete too, and refused by the parser.
std::size_t head_bytes(std::string_view in) {
    for (std::size_t end = in.find('\n'); end != std::string_view::npos; end = in.find('\n', end + 1)) {
        const std::string_view rest = in.substr(end + 1);
        if (rest.starts_with("\r\n") || rest.starts_with('\n')) {
            return end + 1 + (rest.front() == '\r' ? 2 : 1);
        }
    }
    return std::string_view::npos;
}

}  // namespace

HttpConnection::HttpConnection(int socket, const HttpLimits& limits, MonoTime now)
    : socket_(socket), limits_(limits), deadline_(now + limits.request_time) {}

HttpConnection::~HttpConnection() {
    ::close(socket_);
}

HttpConnection::Wants HttpConnection::serve(HttpEngine& engine, MonoTime now, bool stopping) {
    for (std::size_t turn = 0; turn < turns_max; ++turn) {
        if (phase_ == Phase::lingering) {
            in_.clear();
        } else {
            const Progress flushed = flush();
            if (flushed != Progress::some) {
                return flushed == Progress::none ? Wants::write : Wants::close;
            }
            if (last_) {
                // Closing with unread bytes would reset the connection and could take the response from the peer.
                ::shutdown(socket_, SHUT_WR);
                start(Phase::lingering, now);
            } else if (take_request(engine, now, stopping)) {
                continue;
            }
        }
        const Progress received = receive();
        if (received != Progress::some) {
            return received == Progress::none ? Wants::read : Wants::close;
        }
    }
    return Wants::write;  // a socket that can be written to comes back at once, after the others have had their turn
}

void HttpConnection::start(Phase phase, MonoTime now) {
    phase_ = phase;
    switch (phase) {
        case Phase::request: deadline_ = now + limits_.request_time; break;
        case Phase::idle: deadline_ = now + limits_.idle_time; break;
        case Phase::response: deadline_ = now + limits_.response_time; break;
        case Phase::lingering: deadline_ = now + limits_.linger_time; break;
    }
}

HttpConnection::Progress HttpConnection::receive() {
    std::array<char, read_bytes_max> bytes;
    const ssize_t received = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (received > 0) {
        in_.append(bytes.data(), static_cast<std::size_t>(received));
        return Progress::some;
    }
    return received < 0 && (errno == EAGAIN || errno == EINTR) ? Progress::none : Progress::failed;
}

// some: out_ is empty; none: the rest must wait.
HttpConnection::Progress HttpConnection::flush() {
    while (out_sent_ < out_.size()) {
        const ssize_t sent = ::send(socket_, out_.data() + out_sent_, out_.size() - out_sent_, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR ? Progress::none : Progress::failed;
        }
        out_sent_ += static_cast<std::size_t>(sent);
    }
    out_ = {};  // a large answer's memory goes with it
    out_sent_ = 0;
    return Progress::some;
}

void HttpConnection::skip_body() {
    const std::size_t skipped = std::min(body_bytes_left_, in_.size());
    in_.erase(0, skipped);
    body_bytes_left_ -= skipped;
}

// Whether out_ has been filled: a whole head, or a hopeless one, has come.
bool HttpConnection::take_request(HttpEngine& engine, MonoTime now, bool stopping) {
    skip_body();
    in_.erase(0, in_.find_first_not_of("\r\n"));  // RFC 9112, 2.2: empty lines before a request line are skipped
    const std::size_t bytes = head_bytes(std::string_view(in_).substr(0, limits_.head_bytes_max));
    if (bytes == std::string_view::npos && in_.size() < limits_.head_bytes_max) {
        wait_for_request(now);
        return false;
    }
    if (bytes == std::string_view::npos) {
        refuse_long_head();
    } else {
        ++requests_;
        const bool last = stopping || requests_ >= limits_.requests_max;
        const HttpOutcome outcome = engine.respond(std::string_view(in_).substr(0, bytes), last, out_);
        in_.erase(0, bytes);
        body_bytes_left_ = outcome.body_bytes;
        last_ = outcome.close;
    }
    start(Phase::response, now);
    return true;
}

// The time of a phase counts from its beginning, whatever trickles in meanwhile.
void HttpConnection::wait_for_request(MonoTime now) {
    const bool between_requests = in_.empty() && body_bytes_left_ == 0 && requests_ > 0;
    const Phase phase = between_requests ? Phase::idle : Phase::request;
    if (phase_ != phase) {
        start(phase, now);
    }
}

void HttpConnection::refuse_long_head() {
    const bool in_target = in_.find('\n') == std::string::npos;
    out_ = refusal_bytes(in_target ? 414 : 431,
                         "the head of a request may have at most " + std::to_string(limits_.head_bytes_max) + " bytes");
    last_ = true;
}

}  // namespace telegate
