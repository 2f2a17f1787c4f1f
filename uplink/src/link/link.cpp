#include "link/link.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr const char* unreachable = "cannot connect: the host is unknown, or no server responds at this address";
constexpr std::size_t out_kept_bytes = 1'048'576;  // of memory, while nothing is to be written

void set_option(int socket, int level, int name, int value) noexcept {
    ::setsockopt(socket, level, name, &value, sizeof value);
}

/// Detects within a minute that the server's machine is gone, even if nothing is sent, and within seconds that it does
/// not accept the connection.
void configure(int socket) noexcept {
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(socket, IPPROTO_TCP, TCP_SYNCNT, 1);
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

std::string error_text(int error) {
    return std::generic_category().message(error);
}

}  // namespace

Link::Link(AdapterLoop& loop, Events events) : loop_(loop), events_(std::move(events)) {}

Link::~Link() {
    close();
}

void Link::open(const std::string& host, const std::string& port) {
    addresses_ = HostLookup::numeric(host, port).addresses;
    if (!addresses_.empty()) {
        return connect_next();
    }
    try {
        lookup_ = std::make_unique<HostLookup>(host, port);
        loop_.watch(
            lookup_->descriptor(), [this] { lookup_done(); }, [] {});
        loop_.wait_readable();
    } catch (const std::system_error& error) {
        end(std::string("cannot connect: ") + error.what());
    }
}

void Link::lookup_done() {
    addresses_ = lookup_->take_result().addresses;
    std::reverse(addresses_.begin(), addresses_.end());
    loop_.unwatch();
    lookup_.reset();
    connect_next();
}

/// Connects to the next address of the host, one after the other.
void Link::connect_next() {
    while (!addresses_.empty()) {
        const HostAddress to = addresses_.back();
        addresses_.pop_back();
        socket_ = ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (socket_ < 0) {
            return end("cannot connect: " + error_text(errno));
        }
        configure(socket_);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to.storage), to.bytes) == 0 || errno == EINPROGRESS) {
            return wait_for_connection();
        }
        was_refused_ = errno == ECONNREFUSED;
        ::close(std::exchange(socket_, -1));
    }
    end(unreachable, was_refused_ ? End::refused : End::failed);
}

void Link::wait_for_connection() {
    try {
        loop_.watch(
            socket_, [this] { read(); }, [this] { is_write_wanted_ ? flush() : connect_done(); });
        loop_.wait_writable();
    } catch (const std::system_error& error) {
        end(std::string("cannot connect: ") + error.what());
    }
}

void Link::connect_done() {
    int error = 0;
    socklen_t bytes = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error == 0) {
        loop_.wait_readable();
        return events_.opened();
    }
    was_refused_ = error == ECONNREFUSED;
    loop_.unwatch();
    ::close(std::exchange(socket_, -1));
    connect_next();
}

void Link::secure(const AdapterSecrets& secrets, const std::string& host) {
    tls_ = std::make_unique<TlsSession>(secrets, host);
    tls_->take_output(out_);
    want_write();
}

void Link::read() {
    constexpr int reads_max = 4;  // before other work of the loop
    std::array<char, 16'384> buffer{};
    for (int i = 0; i < reads_max; ++i) {
        const ssize_t bytes = ::recv(socket_, buffer.data(), buffer.size(), 0);
        if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            break;
        }
        if (bytes <= 0) {
            const bool is_end = bytes == 0 || errno == ECONNRESET;
            return is_end ? end("the server closed the connection", End::closed)
                          : end("the connection failed: " + error_text(errno));
        }
        if (!receive({buffer.data(), static_cast<std::size_t>(bytes)})) {
            return;
        }
    }
    loop_.wait_readable();
}

/// Returns false if the link was closed.
bool Link::receive(std::string_view bytes) {
    const std::uint64_t session = session_;
    if (tls_ == nullptr) {
        events_.received(bytes);
        return session == session_;
    }
    std::string plain;
    const bool was_established = tls_->is_established();
    try {
        tls_->receive(bytes, plain);
    } catch (const std::exception& error) {
        const End kind = tls_->is_closed() ? End::closed : End::failed;
        if (was_established && !plain.empty()) {  // it may contain the server's reason
            events_.received(plain);
        }
        if (session == session_) {
            end(error.what(), kind);
        }
        return false;
    }
    const std::uint64_t queued_before = queued_bytes();
    tls_->take_output(out_);
    want_write();
    if (!may_respond(queued_before)) {
        end("the server does not read the responses to its TLS messages");
        return false;
    }
    if (!was_established && tls_->is_established()) {
        events_.secured();
    }
    if (session == session_ && !plain.empty()) {
        events_.received(plain);
    }
    return session == session_;
}

void Link::write(std::string_view bytes) {
    if (tls_ == nullptr) {
        out_.append(bytes);
    } else {
        try {
            tls_->send(bytes);
        } catch (const std::runtime_error&) {
            ::shutdown(socket_, SHUT_RDWR);  // ends the link when the caller has returned
        }
        tls_->take_output(out_);
    }
    want_write();
}

bool Link::respond(std::string_view bytes) {
    const std::uint64_t queued_before = queued_bytes();
    write(bytes);
    return may_respond(queued_before);
}

/// Counts what was queued since `queued_before`. A server that requests responses and does not read them must not fill
/// the memory.
bool Link::may_respond(std::uint64_t queued_before) noexcept {
    if (all_written_ >= responses_begin_) {
        response_bytes_ = 0;
        responses_begin_ = queued_bytes();
    }
    response_bytes_ += queued_bytes() - queued_before;
    return response_bytes_ <= response_bytes_max;
}

/// Writes in the next iteration of the loop, so that several messages are written at once.
void Link::want_write() {
    if (!is_write_wanted_ && unwritten_bytes() > 0) {
        is_write_wanted_ = true;
        loop_.wait_writable();
    }
}

void Link::flush() {
    while (unwritten_bytes() > 0) {
        const ssize_t bytes = ::send(socket_, out_.data() + written_, unwritten_bytes(), MSG_NOSIGNAL);
        if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            if (written_ >= out_.size() / 2) {
                out_.erase(0, std::exchange(written_, 0));
            }
            return loop_.wait_writable();
        }
        if (bytes < 0) {
            is_write_wanted_ = false;
            return;  // the server may have sent the reason before it closed the connection
        }
        written_ += static_cast<std::size_t>(bytes);
        all_written_ += static_cast<std::uint64_t>(bytes);
    }
    is_write_wanted_ = false;
    written_ = 0;
    out_.clear();
    if (out_.capacity() > out_kept_bytes) {
        out_ = {};
    }
}

void Link::end(const std::string& reason, End end) {
    close();
    events_.ended(reason, end);
}

void Link::close() noexcept {
    ++session_;
    if (lookup_ != nullptr || socket_ >= 0) {
        loop_.unwatch();
    }
    lookup_.reset();
    addresses_.clear();
    if (socket_ >= 0) {
        ::close(std::exchange(socket_, -1));
    }
    tls_.reset();
    out_ = {};
    written_ = 0;
    all_written_ = 0;
    response_bytes_ = 0;
    responses_begin_ = 0;
    is_write_wanted_ = false;
    was_refused_ = false;
}

}  // namespace telegate::uplink
