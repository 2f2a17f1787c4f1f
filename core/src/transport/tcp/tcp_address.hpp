#pragma once

#include "core/endpoint.hpp"
#include "transport/socket_address.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace telegate::transport {

/// Parses "HOST:PORT".
[[nodiscard]] std::variant<Endpoint, EndpointFault> parse_tcp(std::string_view text);
[[nodiscard]] std::string tcp_text(const Endpoint& endpoint);

/// Returns the addresses of an endpoint: one, two for "localhost" (IPv4 first), or the first of an interface, IPv4
/// before IPv6. Returns none, with EINVAL, or with ENODEV for an unknown interface or zone.
[[nodiscard]] Destination resolve(const Endpoint& endpoint);

/// Returns the numeric endpoint of an address. An IPv4 address in IPv6 form is shown as IPv4.
[[nodiscard]] Endpoint to_endpoint(const SocketAddress& address);

}  // namespace telegate::transport
