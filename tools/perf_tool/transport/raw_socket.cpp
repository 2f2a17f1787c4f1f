#include "raw_socket.hpp"

#include "harness.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace telegate::perf {

namespace {

/// The address of either kind; of a Unix socket it is a name that the kernel has chosen, and no file.
struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;

    [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

[[nodiscard]] Address any_address(Transport transport) {
    Address address;
    if (transport != Transport::tcp) {
        address.storage.ss_family = AF_UNIX;
        address.bytes = sizeof(sa_family_t);
        return address;
    }
    auto* const internet = reinterpret_cast<sockaddr_in*>(&address.storage);
    internet->sin_family = AF_INET;
    internet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.bytes = sizeof(sockaddr_in);
    return address;
}

[[nodiscard]] Address parse_address(Transport transport, const std::string& text) {
    Address address = any_address(transport);
    if (transport == Transport::tcp) {
        std::uint16_t port = 0;
        std::from_chars(text.data(), text.data() + text.size(), port);
        reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = htons(port);
        return address;
    }
    auto* const local = reinterpret_cast<sockaddr_un*>(&address.storage);
    std::memcpy(local->sun_path + 1, text.data(), text.size());
    address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    return address;
}

void set_option(int socket, int level, int name, int value) {
    if (::setsockopt(socket, level, name, &value, sizeof value) != 0) {
        fail_raw("setsockopt");
    }
}

/// Of what was asked for. The kernel doubles it for its own needs.
[[nodiscard]] std::size_t given_buffer(int socket, int name, int asked) {
    set_option(socket, SOL_SOCKET, name, asked);
    int doubled = 0;
    socklen_t bytes = sizeof doubled;
    if (::getsockopt(socket, SOL_SOCKET, name, &doubled, &bytes) != 0) {
        fail_raw("getsockopt");
    }
    return static_cast<std::size_t>(doubled) / 2;
}

void set_time(int socket, int name, std::chrono::milliseconds time) {
    timeval value{};
    value.tv_sec = time.count() / 1'000;
    value.tv_usec = time.count() % 1'000 * 1'000;
    if (::setsockopt(socket, SOL_SOCKET, name, &value, sizeof value) != 0) {
        fail_raw("setsockopt");
    }
}

[[nodiscard]] UniqueFd make_socket(Transport transport) {
    UniqueFd socket(::socket(transport == Transport::tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) {
        fail_raw("socket");
    }
    return socket;
}

/// So that neither a lost connection nor a lost byte makes it wait for ever.
void set_up(int socket, Transport transport) {
    if (transport == Transport::tcp) {
        set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    set_time(socket, SO_RCVTIMEO, receive_wait);
    set_time(socket, SO_SNDTIMEO, stillness_max);
}

}  // namespace

RawListener::RawListener(Transport transport, int buffer_bytes)
    : transport_(transport), buffer_bytes_(buffer_bytes), socket_(make_socket(transport)) {
    Address address = any_address(transport);
    if (::bind(socket_.get(), address.get(), address.bytes) != 0 || ::listen(socket_.get(), SOMAXCONN) != 0) {
        fail_raw("listen");
    }
    set_time(socket_.get(), SO_RCVTIMEO, std::chrono::milliseconds(1));
}

std::string RawListener::address() const {
    Address address;
    if (::getsockname(socket_.get(), address.get(), &address.bytes) != 0) {
        fail_raw("getsockname");
    }
    if (transport_ == Transport::tcp) {
        return std::to_string(ntohs(reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port));
    }
    const auto* const local = reinterpret_cast<sockaddr_un*>(&address.storage);
    return {local->sun_path + 1, address.bytes - offsetof(sockaddr_un, sun_path) - 1};
}

void RawListener::accept_some(std::vector<UniqueFd>& connections) {
    for (;;) {
        UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) {
            if (errno == EAGAIN || errno == EINTR) {
                return;
            }
            fail_raw("accept4");
        }
        set_up(socket.get(), transport_);
        set_time(socket.get(), SO_RCVTIMEO, stillness_max);  // for the place
        if (buffer_bytes_ > 0) {
            set_option(socket.get(), SOL_SOCKET, SO_SNDBUF, buffer_bytes_);
        }
        std::uint32_t place = 0;
        if (::recv(socket.get(), &place, sizeof place, MSG_WAITALL) != sizeof place || place >= connections.size()) {
            throw std::runtime_error("raw: a connection does not name its place");
        }
        connections[place] = std::move(socket);
    }
}

UniqueFd raw_connect(Transport transport, const std::string& address, int buffer_bytes, std::size_t place) {
    UniqueFd socket = make_socket(transport);
    set_up(socket.get(), transport);
    if (buffer_bytes > 0) {  // before it connects, or the window is not scaled for it
        set_option(socket.get(), SOL_SOCKET, SO_RCVBUF, buffer_bytes);
    }
    Address to = parse_address(transport, address);
    if (::connect(socket.get(), to.get(), to.bytes) != 0) {
        fail_raw("connect");
    }
    const auto number = static_cast<std::uint32_t>(place);
    write_all(socket.get(), reinterpret_cast<const char*>(&number), sizeof number);
    return socket;
}

GivenBuffers given_buffers(Transport transport, int buffer_bytes) {
    const UniqueFd socket = make_socket(transport);
    GivenBuffers given;
    given.send = given_buffer(socket.get(), SO_SNDBUF, buffer_bytes);
    given.receive = transport == Transport::tcp ? given_buffer(socket.get(), SO_RCVBUF, buffer_bytes) : given.send;
    return given;
}

std::size_t read_some(int socket, char* data, std::size_t bytes_max) {
    const ssize_t bytes = ::recv(socket, data, bytes_max, 0);
    if (bytes > 0) {
        return static_cast<std::size_t>(bytes);
    }
    if (bytes == 0) {
        throw std::runtime_error("raw: the connection was closed");
    }
    if (errno != EAGAIN && errno != EINTR) {
        fail_raw("recv");
    }
    return 0;
}

void write_all(int socket, const char* data, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t sent = ::send(socket, data, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            throw std::runtime_error("raw: nothing was read for ten seconds");
        }
        if (sent < 0 && errno != EINTR) {
            fail_raw("send");
        }
        const std::size_t done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
        data += done;
        bytes -= done;
    }
}

}  // namespace telegate::perf
