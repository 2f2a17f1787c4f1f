#include "transport/socket_stream.hpp"

#include "core/assert.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace telegate::transport {
namespace {

constexpr int write_flags = MSG_NOSIGNAL | MSG_DONTWAIT;

bool is_later(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

SocketStream::SocketStream(Reactor& reactor, UniqueFd descriptor, PeerName name)
    : reactor_(&reactor), descriptor_(std::move(descriptor)), name_(std::move(name)) {}

void SocketStream::watch(std::function<void()> on_readable, std::function<void()> on_writable) {
    watch_ = std::make_unique<Watch>(*reactor_, descriptor_.get(), std::move(on_readable), std::move(on_writable));
}

StreamWrite SocketStream::write(std::span<const StreamPart> parts) {
    TELEGATE_ASSERT(!parts.empty());
    if (parts.size() == 1) {  // a single message: less work for the kernel
        const StreamPart& part = parts.front();
        return write_with([&](int descriptor) { return ::send(descriptor, part.data, part.bytes, write_flags); });
    }
    std::array<iovec, parts_per_write_max> vectors;
    const std::size_t count = std::min(parts.size(), vectors.size());
    std::transform(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count), vectors.begin(),
                   [](const StreamPart& part) {
                       return iovec{const_cast<std::byte*>(part.data), part.bytes};
                   });
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    return write_with([&](int descriptor) { return ::sendmsg(descriptor, &message, write_flags); });
}

template <class Call>
StreamWrite SocketStream::write_with(const Call& call) {
    while (true) {
        const ssize_t sent = call(descriptor_.get());
        if (sent >= 0) {
            return {IoStatus::ok, static_cast<std::size_t>(sent), 0};
        }
        if (is_later(errno)) {
            return {IoStatus::would_block, 0, 0};
        }
        if (errno != EINTR) {
            return {IoStatus::error, 0, errno};
        }
    }
}

StreamRead SocketStream::read(Input& input) {
    const std::span<std::byte> room = input.room();
    while (true) {
        const ssize_t got = ::recv(descriptor_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (got > 0) {
            input.received(static_cast<std::size_t>(got));
            return {IoStatus::ok, static_cast<std::size_t>(got), 0, static_cast<std::size_t>(got) == room.size()};
        }
        if (got == 0) {
            return {IoStatus::end, 0, 0};
        }
        if (is_later(errno)) {
            return {IoStatus::would_block, 0, 0};
        }
        if (errno != EINTR) {
            return {IoStatus::error, 0, errno};
        }
    }
}

void SocketStream::end_writing() noexcept {
    ::shutdown(descriptor_.get(), SHUT_WR);
}

std::size_t SocketStream::unacknowledged_bytes() const noexcept {
    int bytes = 0;
    // A Unix socket counts the size of its buffers, not the bytes written.
    if (name_.address.empty() || ::ioctl(descriptor_.get(), SIOCOUTQ, &bytes) != 0 || bytes < 0) {
        return 0;
    }
    return static_cast<std::size_t>(bytes);
}

std::int64_t SocketStream::acknowledged_ms_ago() const noexcept {
    if (name_.address.empty()) {
        return 0;  // the kernel reports when a peer on this machine is gone
    }
    tcp_info info{};
    socklen_t bytes = sizeof info;
    if (::getsockopt(descriptor_.get(), IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) {
        return -1;
    }
    // The kernel probes a peer with a full receive buffer with exponential backoff, up to two minutes apart. Between
    // the response and the next probe no acknowledgment is due.
    const bool all_answered = info.tcpi_unacked == 0 && info.tcpi_probes == 0;
    return all_answered ? 0 : info.tcpi_last_ack_recv;
}

}  // namespace telegate::transport
