#pragma once

#include "core/endpoint.hpp"
#include "transport/socket_address.hpp"

#include <string>

namespace telegate::transport {

/// Returns the address of a socket that another process has bound, and makes it non-blocking and close-on-exec. Throws
/// std::system_error if it is not a listening stream socket; `endpoint` is where it should listen.
[[nodiscard]] SocketAddress listening_address(int descriptor, const Endpoint& endpoint);

/// Throws std::system_error: the socket inherited for `endpoint` is not the right one; `what` completes the sentence.
[[noreturn]] void refuse_adopted(const Endpoint& endpoint, const std::string& what);

}  // namespace telegate::transport
