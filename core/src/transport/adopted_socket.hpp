#pragma once

#include "core/endpoint.hpp"
#include "transport/socket_address.hpp"

#include <string>

namespace telegate::transport {

/// The address of a socket that somebody else has bound, from now on non-blocking and not inherited. Throws
/// std::system_error when it is no listening stream socket; `endpoint` is where it should be.
[[nodiscard]] SocketAddress listening_address(int descriptor, const Endpoint& endpoint);

/// Throws std::system_error: the socket that was handed over for `endpoint` is not the right one, since it `what`.
[[noreturn]] void refuse_adopted(const Endpoint& endpoint, const std::string& what);

}  // namespace telegate::transport
