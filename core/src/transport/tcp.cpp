#include "transport/transport.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace telegate::transport {
namespace {

struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = 0;

    [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

Address to_address(const Endpoint& endpoint) {
    Address address;
    const std::string host = endpoint.host == "*" ? "0.0.0.0" : endpoint.host;
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(endpoint.port);
        address.bytes = sizeof *v4;
    } else if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(endpoint.port);
        address.bytes = sizeof *v6;
    } else {
        throw std::system_error(EINVAL, std::generic_category(), to_string(endpoint));
    }
    return address;
}

Endpoint from_address(const Address& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    Endpoint endpoint;
    if (address.storage.ss_family == AF_INET6) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
        ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
        endpoint.port = ntohs(v6->sin6_port);
    } else {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
        ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
        endpoint.port = ntohs(v4->sin_port);
    }
    endpoint.host = text.data();
    return endpoint;
}

void set_option(int descriptor, int level, int option) noexcept {
    const int on = 1;
    ::setsockopt(descriptor, level, option, &on, sizeof on);
}

}  // namespace

Bound listen_tcp(const Endpoint& endpoint) {
    Address address = to_address(endpoint);
    UniqueFd descriptor(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor.get() >= 0) {
        set_option(descriptor.get(), SOL_SOCKET, SO_REUSEADDR);  // not REUSEPORT: a second gateway must be refused
    }
    if (descriptor.get() < 0 || ::bind(descriptor.get(), address.get(), address.bytes) != 0 ||
        ::listen(descriptor.get(), accept_backlog) != 0) {
        throw std::system_error(errno, std::generic_category(), to_string(endpoint));
    }
    address.bytes = sizeof address.storage;
    ::getsockname(descriptor.get(), address.get(), &address.bytes);
    return {std::move(descriptor), from_address(address), {}};
}

void tune_tcp(int descriptor) noexcept {
    set_option(descriptor, IPPROTO_TCP, TCP_NODELAY);  // we batch ourselves; a lone message must leave at once
    set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE);
}

std::string describe_tcp_peer(int descriptor) {
    Address address;
    address.bytes = sizeof address.storage;
    if (::getpeername(descriptor, address.get(), &address.bytes) != 0) {
        return "gone";
    }
    return to_string(from_address(address)).substr(std::strlen("tcp://"));
}

}  // namespace telegate::transport
