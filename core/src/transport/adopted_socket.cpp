#include "transport/adopted_socket.hpp"

#include "transport/transport.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace telegate::transport {
namespace {

int option(int descriptor, int name) noexcept {
    int value = 0;
    socklen_t bytes = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
}

}  // namespace

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
