#pragma once

#include "core/endpoint.hpp"
#include "transport/socket_address.hpp"

namespace telegate::transport {

/// The addresses that a tcp endpoint stands for: one, two for "localhost" (IPv4 first), or the first of an interface,
/// IPv4 before IPv6. None with EINVAL, or with ENODEV for an interface or zone that is not there.
[[nodiscard]] Destination resolve(const Endpoint& endpoint);

/// Numeric; an IPv4 address that came as IPv6 is shown as the IPv4 address that it is.
[[nodiscard]] Endpoint to_endpoint(const SocketAddress& address);

}  // namespace telegate::transport
