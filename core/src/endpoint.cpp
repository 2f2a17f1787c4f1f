#include "core/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <optional>

namespace telegate {
namespace {

constexpr std::size_t ipc_path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

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

bool is_address(int family, const std::string& host) {
    std::array<std::byte, sizeof(in6_addr)> binary{};
    return host.find('\0') == std::string::npos && ::inet_pton(family, host.c_str(), binary.data()) == 1;
}

std::variant<Endpoint, EndpointFault> parse_tcp(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return EndpointFault{"the port is missing, write tcp://ADDRESS:PORT"};
    }
    const auto port = parse_port(text.substr(colon + 1));
    if (!port) {
        return EndpointFault{"the port is not 0 to 65535 or *"};
    }
    const std::string_view host = text.substr(0, colon);
    Endpoint endpoint;
    endpoint.port = *port;
    if (host.starts_with('[') && host.ends_with(']')) {
        endpoint.host = host.substr(1, host.size() - 2);
        if (is_address(AF_INET6, endpoint.host)) {
            return endpoint;
        }
        return EndpointFault{"what stands in brackets is not an IPv6 address"};
    }
    endpoint.host = host;
    if (host == "*" || is_address(AF_INET, endpoint.host)) {
        return endpoint;
    }
    return EndpointFault{"the address is not a numeric IPv4 address, an IPv6 address in brackets, or *"};
}

std::variant<Endpoint, EndpointFault> parse_ipc(std::string_view text) {
    if (text.empty() || text == "@") {
        return EndpointFault{"the path is empty"};
    }
    if (text.size() > ipc_path_bytes_max) {
        return EndpointFault{"the path is longer than " + std::to_string(ipc_path_bytes_max) + " bytes"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return EndpointFault{"the path holds a zero byte"};
    }
    Endpoint endpoint;
    endpoint.transport = Transport::ipc;
    endpoint.path = text;
    return endpoint;
}

}  // namespace

std::variant<Endpoint, EndpointFault> parse_endpoint(std::string_view text) {
    constexpr std::string_view tcp = "tcp://";
    constexpr std::string_view ipc = "ipc://";
    if (text.starts_with(tcp)) {
        return parse_tcp(text.substr(tcp.size()));
    }
    if (text.starts_with(ipc)) {
        return parse_ipc(text.substr(ipc.size()));
    }
    return EndpointFault{"an endpoint starts with tcp:// or ipc://"};
}

std::string to_string(const Endpoint& endpoint) {
    if (endpoint.transport == Transport::ipc) {
        return "ipc://" + endpoint.path;
    }
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    return "tcp://" + (v6 ? '[' + endpoint.host + ']' : endpoint.host) + ':' + std::to_string(endpoint.port);
}

}  // namespace telegate
