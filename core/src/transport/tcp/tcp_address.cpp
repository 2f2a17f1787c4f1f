#include "transport/tcp/tcp_address.hpp"

#include "core/text.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

namespace telegate::transport {
namespace {

constexpr std::size_t interface_bytes_max = IF_NAMESIZE - 1;

std::optional<std::uint16_t> parse_port(std::string_view text) {
    if (text == "*") {
        return 0;
    }
    return parse_number<std::uint16_t>(text);
}

bool is_address(int family, std::string_view host) {
    in6_addr binary{};  // large enough for either family
    return host.find('\0') == std::string_view::npos && ::inet_pton(family, std::string(host).c_str(), &binary) == 1;
}

constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool has_interface_characters(std::string_view text) {
    return !text.empty() && text.size() <= interface_bytes_max && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
    });
}

/// Text without a letter is a mistyped address. Text with a dot is a host name, unless a VLAN number follows the dot.
bool is_interface(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    const std::string_view vlan = dot == std::string_view::npos ? "0" : text.substr(dot + 1);
    return has_interface_characters(text) && std::any_of(text.begin(), text.end(), is_letter) && !vlan.empty() &&
           std::all_of(vlan.begin(), vlan.end(), is_digit);
}

/// "fe80::1%eth0" or "fe80::1%2"; the zone is optional.
bool is_ipv6_with_zone(std::string_view text) {
    const std::size_t percent = text.find('%');
    return is_address(AF_INET6, text.substr(0, percent)) &&
           (percent == std::string_view::npos || has_interface_characters(text.substr(percent + 1)));
}

/// TCP supports neither multicast nor broadcast.
bool is_for_many(std::string_view host) {
    in_addr ipv4{};
    in6_addr ipv6{};
    const std::string address(host.substr(0, host.find('%')));
    if (::inet_pton(AF_INET, address.c_str(), &ipv4) == 1) {
        return IN_MULTICAST(ntohl(ipv4.s_addr)) || ipv4.s_addr == INADDR_BROADCAST;
    }
    return ::inet_pton(AF_INET6, address.c_str(), &ipv6) == 1 && IN6_IS_ADDR_MULTICAST(&ipv6);
}

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
    return parse_number<std::uint32_t>(zone).value_or(0);
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

/// `is_bracketed`: the host is written in brackets, which only an IPv6 address may be.
std::optional<EndpointFault> host_fault(std::string_view host, bool is_bracketed) {
    if (is_bracketed && !is_ipv6_with_zone(host)) {
        return EndpointFault{"invalid IPv6 address in brackets: must be like [::1] or [fe80::1%eth0]"};
    }
    if (!is_bracketed && host != "*" && !is_address(AF_INET, host) && !is_interface(host)) {
        return EndpointFault{
            "invalid address: must be a numeric IPv4 address, an IPv6 address in brackets, an interface name (at "
            "most " +
            std::to_string(interface_bytes_max) +
            " characters from A-Z a-z 0-9 _ -, or with a VLAN: eth0.100), localhost, or *"};
    }
    if (is_for_many(host)) {
        return EndpointFault{
            "invalid address: TCP supports neither multicast nor broadcast; use the address of one machine"};
    }
    return std::nullopt;
}

}  // namespace

std::variant<Endpoint, EndpointFault> parse_tcp(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return EndpointFault{"missing port: use tcp://ADDRESS:PORT"};
    }
    const auto port = parse_port(text.substr(colon + 1));
    if (!port) {
        return EndpointFault{"invalid port: must be 0 to 65535, or * for any free port"};
    }
    std::string_view host = text.substr(0, colon);
    const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
    if (is_bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    if (const auto fault = host_fault(host, is_bracketed)) {
        return *fault;
    }
    return Endpoint{Transport::tcp, std::string(host), *port, ""};
}

std::string tcp_text(const Endpoint& endpoint) {
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    return (v6 ? '[' + endpoint.host + ']' : endpoint.host) + ':' + std::to_string(endpoint.port);
}

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

}  // namespace telegate::transport

namespace telegate {

std::optional<EndpointFault> check_tcp_host(std::string_view host) {
    return transport::host_fault(host, host.find(':') != std::string_view::npos);
}

}  // namespace telegate
