#pragma once

#include "core/endpoint.hpp"
#include "transport/socket_address.hpp"

namespace telegate::transport {

/// Returns the addresses of a tcp endpoint: one, two for "localhost" (IPv4 first), or the first of an interface, IPv4
/// before IPv6. Returns none, with EINVAL, or with ENODEV for an unknown interface or zone.
[[nodiscard]] Destination resolve(const Endpoint& endpoint);

/// Returns the numeric endpoint of an address. An IPv4 address in IPv6 form is shown as IPv4.
[[nodiscard]] Endpoint to_endpoint(const SocketAddress& address);

}  // namespace telegate::transport
