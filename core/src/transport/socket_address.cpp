#include "transport/socket_address.hpp"

#include "transport/transport.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace telegate::transport {
namespace {

std::optional<SocketAddress> parse_ipv4(const std::string& host, std::uint16_t port) {
    SocketAddress address;
    auto& v4 = address.as<sockaddr_in>();
    if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) {
        return std::nullopt;
    }
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.bytes = sizeof v4;
    return address;
}

/// Returns the index of a zone that is given as an interface name or a number; 0 if there is none.
std::uint32_t find_zone(const std::string& zone) {
    if (const unsigned index = ::if_nametoindex(zone.c_str()); index != 0) {
        return index;
    }
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(zone.data(), zone.data() + zone.size(), number);
    return error == std::errc() && end == zone.data() + zone.size() ? number : 0;
}

Destination resolve_ipv6(const Endpoint& endpoint) {
    const std::size_t percent = endpoint.host.find('%');
    SocketAddress address;
    auto& v6 = address.as<sockaddr_in6>();
    if (::inet_pton(AF_INET6, endpoint.host.substr(0, percent).c_str(), &v6.sin6_addr) != 1) {
        return {{}, EINVAL};
    }
    if (percent != std::string::npos) {
        v6.sin6_scope_id = find_zone(endpoint.host.substr(percent + 1));
        if (v6.sin6_scope_id == 0) {
            return {{}, ENODEV};
        }
    }
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    address.bytes = sizeof v6;
    return {{address}, 0};
}

Destination resolve_interface(const Endpoint& endpoint) {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) {
        return {{}, errno};
    }
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
    for (const int family : {AF_INET, AF_INET6}) {
        for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
            if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family ||
                endpoint.host != entry->ifa_name) {
                continue;
            }
            SocketAddress address;
            address.bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
            std::memcpy(address.get(), entry->ifa_addr, address.bytes);
            in_port_t& port =
                family == AF_INET ? address.as<sockaddr_in>().sin_port : address.as<sockaddr_in6>().sin6_port;
            port = htons(endpoint.port);
            return {{address}, 0};
        }
    }
    return {{}, ENODEV};
}

std::string to_text(const in_addr& address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
}

std::string to_text(const sockaddr_in6& address) {
    if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
        in_addr v4{};
        std::memcpy(&v4, address.sin6_addr.s6_addr + 12, sizeof v4);
        return to_text(v4);
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
    std::string result = text.data();
    if (address.sin6_scope_id != 0) {
        std::array<char, IF_NAMESIZE> name{};
        result += '%';
        result += ::if_indextoname(address.sin6_scope_id, name.data()) != nullptr
                      ? std::string(name.data())
                      : std::to_string(address.sin6_scope_id);
    }
    return result;
}

int option(int descriptor, int name) noexcept {
    int value = 0;
    socklen_t bytes = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
}

}  // namespace

Destination resolve(const Endpoint& endpoint) {
    // "*" is every IPv4 address, as in libzmq by default; [::] includes IPv6.
    if (const auto v4 = parse_ipv4(endpoint.host == "*" ? "0.0.0.0" : endpoint.host, endpoint.port)) {
        return {{*v4}, 0};
    }
    if (endpoint.host == "localhost") {
        return {{parse_ipv4("127.0.0.1", endpoint.port).value(),
                 resolve_ipv6({Transport::tcp, "::1", endpoint.port, ""}).addresses.front()},
                0};
    }
    return endpoint.host.find(':') != std::string::npos ? resolve_ipv6(endpoint) : resolve_interface(endpoint);
}

Endpoint to_endpoint(const SocketAddress& address) {
    Endpoint endpoint;
    if (address.family() == AF_INET6) {
        const auto& v6 = address.as<sockaddr_in6>();
        endpoint.host = to_text(v6);
        endpoint.port = ntohs(v6.sin6_port);
    } else {
        const auto& v4 = address.as<sockaddr_in>();
        endpoint.host = to_text(v4.sin_addr);
        endpoint.port = ntohs(v4.sin_port);
    }
    return endpoint;
}

SocketAddress listening_address(int descriptor, const Endpoint& endpoint) {
    if (option(descriptor, SO_TYPE) != SOCK_STREAM || option(descriptor, SO_ACCEPTCONN) != 1) {
        refuse_adopted(endpoint, "is not a listening stream socket");
    }
    const int flags = ::fcntl(descriptor, F_GETFL);
    SocketAddress address;
    address.bytes = sizeof address.storage;
    if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0 ||
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 ||
        ::getsockname(descriptor, address.get(), &address.bytes) != 0) {
        throw_at(errno, endpoint);
    }
    return address;
}

void refuse_adopted(const Endpoint& endpoint, const std::string& what) {
    throw std::system_error(EADDRNOTAVAIL, std::generic_category(),
                            to_string(endpoint) + ": the inherited socket " + what);
}

}  // namespace telegate::transport
