#include "core/endpoint.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace telegate {
namespace {

constexpr std::size_t ipc_path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t inproc_name_bytes_max = 255;
constexpr std::size_t interface_bytes_max = IF_NAMESIZE - 1;

std::optional<std::uint16_t> parse_port(std::string_view text) {
    if (text == "*") {
        return 0;
    }
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return port;
}

bool is_address(int family, std::string_view host) {
    std::array<std::byte, sizeof(in6_addr)> binary{};
    return host.find('\0') == std::string_view::npos &&
           ::inet_pton(family, std::string(host).c_str(), binary.data()) == 1;
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
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
        if (!is_ipv6_with_zone(host)) {
            return EndpointFault{"invalid IPv6 address in brackets: must be like [::1] or [fe80::1%eth0]"};
        }
    } else if (host != "*" && !is_address(AF_INET, host) && !is_interface(host)) {
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
    return Endpoint{Transport::tcp, std::string(host), *port, ""};
}

std::variant<Endpoint, EndpointFault> parse_ipc(std::string_view text) {
    if (text.empty() || text == "@") {
        return EndpointFault{"empty path: use ipc://PATH, ipc://@NAME or ipc://*"};
    }
    if (text.size() > ipc_path_bytes_max) {
        return EndpointFault{"path too long: must be at most " + std::to_string(ipc_path_bytes_max) + " bytes"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return EndpointFault{"invalid path: contains a zero byte"};
    }
    return Endpoint{Transport::ipc, "", 0, std::string(text)};
}

std::variant<Endpoint, EndpointFault> parse_inproc(std::string_view text) {
    if (text.empty() || text.size() > inproc_name_bytes_max) {
        return EndpointFault{"invalid name: must be 1 to " + std::to_string(inproc_name_bytes_max) + " bytes"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return EndpointFault{"invalid name: contains a zero byte"};
    }
    return Endpoint{Transport::inproc, "", 0, std::string(text)};
}

struct TransportRow {
    std::string_view name;
    std::variant<Endpoint, EndpointFault> (*parse)(std::string_view text);  // after "://"
};
/// In the order of Transport.
constexpr std::array transports{
    TransportRow{"tcp", parse_tcp},
    TransportRow{"ipc", parse_ipc},
    TransportRow{"inproc", parse_inproc},
};
constexpr std::string_view separator = "://";

}  // namespace

std::string_view to_string(Transport transport) noexcept {
    return transports[static_cast<std::size_t>(transport)].name;
}

std::variant<Endpoint, EndpointFault> parse_endpoint(std::string_view text) {
    for (const TransportRow& row : transports) {
        if (text.starts_with(row.name) && text.substr(row.name.size()).starts_with(separator)) {
            return row.parse(text.substr(row.name.size() + separator.size()));
        }
    }
    return EndpointFault{"unknown transport: must begin with tcp://, ipc:// or inproc://"};
}

std::string to_string(const Endpoint& endpoint) {
    const std::string begin = std::string(to_string(endpoint.transport)).append(separator);
    if (endpoint.transport != Transport::tcp) {
        return begin + endpoint.path;
    }
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    return begin + (v6 ? '[' + endpoint.host + ']' : endpoint.host) + ':' + std::to_string(endpoint.port);
}

bool is_any(const Endpoint& endpoint) noexcept {
    switch (endpoint.transport) {
        case Transport::tcp: return endpoint.port == 0;
        case Transport::ipc: return endpoint.path == "*";
        case Transport::inproc: break;
    }
    return false;
}

bool may_conflict(const Endpoint& bound, const Endpoint& wanted) noexcept {
    if (bound.transport != wanted.transport) {
        return false;
    }
    return bound.transport == Transport::tcp ? bound.port == wanted.port : bound.path == wanted.path;
}

}  // namespace telegate
