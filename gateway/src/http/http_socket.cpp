#include "http/http_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

namespace telegate {
namespace {

HttpSocket::Moved outcome_of(ssize_t moved) noexcept {
    using Progress = HttpSocket::Progress;
    if (moved >= 0) {
        return {Progress::some, static_cast<std::size_t>(moved)};
    }
    return {errno == EAGAIN || errno == EINTR ? Progress::none : Progress::failed, 0};
}

iovec part(std::string_view bytes) noexcept {
    return {const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg() only reads
}

}  // namespace

HttpSocket::HttpSocket(UniqueFd descriptor, std::unique_ptr<TlsSession> tls) noexcept
    : descriptor_(std::move(descriptor)), tls_(std::move(tls)), open_(tls_ == nullptr) {}

HttpSocket::Progress HttpSocket::open() noexcept {
    if (open_) {
        return Progress::some;
    }
    const Progress progress = tls_->handshake();
    open_ = progress == Progress::some;
    return progress;
}

HttpSocket::Moved HttpSocket::receive(char* bytes, std::size_t bytes_max) const noexcept {
    if (tls_) {
        return tls_->receive(bytes, bytes_max);
    }
    const ssize_t received = ::recv(descriptor(), bytes, bytes_max, 0);
    return received == 0 ? Moved{Progress::failed, 0} : outcome_of(received);
}

HttpSocket::Moved HttpSocket::send(std::string_view first, std::string_view second) const noexcept {
    if (tls_) {
        return tls_->send(first.empty() ? second : first);
    }
    if (second.empty()) {
        return outcome_of(::send(descriptor(), first.data(), first.size(), MSG_NOSIGNAL));
    }
    std::array<iovec, 2> parts{part(first), part(second)};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    return outcome_of(::sendmsg(descriptor(), &message, MSG_NOSIGNAL));
}

void HttpSocket::end() noexcept {
    if (tls_ && open_) {
        tls_->end();
    }
    ::shutdown(descriptor(), SHUT_WR);
}

}  // namespace telegate
