#include "transport/ipc_file.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_connector.hpp"
#include "transport/socket_listener.hpp"
#include "transport/transport.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace telegate::transport {
namespace {

PeerName name_ipc_peer(int descriptor) {
    ucred credentials{};
    socklen_t bytes = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
        return {"gone", ""};
    }
    return {"pid=" + std::to_string(credentials.pid) + " uid=" + std::to_string(credentials.uid), ""};
}

std::unique_ptr<Stream> make_ipc_stream(Reactor& reactor, UniqueFd descriptor) {
    // Unix sockets have no automatic buffer tuning as tcp does, and every write is charged to the sender.
    const int send_buffer_bytes = 1 << 20;
    ::setsockopt(descriptor.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
    PeerName name = name_ipc_peer(descriptor.get());
    return std::make_unique<SocketStream>(reactor, std::move(descriptor), Transport::ipc, std::move(name));
}

IpcFile listen_at_name(int descriptor, const Endpoint& endpoint) {
    const SocketAddress address = ipc_address(endpoint);
    if (::bind(descriptor, address.get(), address.bytes) != 0 || ::listen(descriptor, accept_backlog) != 0) {
        throw_at(errno, endpoint);
    }
    return IpcFile(endpoint.path, "");
}

/// Returns the path as an endpoint has it: abstract names begin with '@'.
std::string bound_path(const SocketAddress& address) {
    const auto& name = address.as<sockaddr_un>();
    const std::size_t bytes = address.bytes - offsetof(sockaddr_un, sun_path);
    if (bytes > 0 && name.sun_path[0] == '\0') {
        return '@' + std::string(name.sun_path + 1, bytes - 1);
    }
    return {name.sun_path, ::strnlen(name.sun_path, bytes)};
}

}  // namespace

std::unique_ptr<Listener> listen_ipc(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                     ListenerEvents events) {
    UniqueFd descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor.get() < 0) {
        throw_at(errno, endpoint);
    }
    IpcFile file = endpoint.path.starts_with('@') ? listen_at_name(descriptor.get(), endpoint)
                                                  : listen_at_path(descriptor.get(), endpoint, options);
    Endpoint bound{Transport::ipc, "", 0, file.path()};
    return std::make_unique<SocketListener>(reactor, Bound{std::move(descriptor), std::move(bound), std::move(file)},
                                            make_ipc_stream, std::move(events));
}

std::unique_ptr<Listener> adopt_ipc(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                    ListenerEvents events) {
    const SocketAddress address = listening_address(descriptor.get(), endpoint);
    if (address.family() != AF_UNIX) {
        refuse_adopted(endpoint, "is not a Unix socket");
    }
    const Endpoint bound{Transport::ipc, "", 0, bound_path(address)};
    if (endpoint.path != "*" && endpoint.path != bound.path) {
        refuse_adopted(endpoint, "is bound to " + to_string(bound));
    }
    return std::make_unique<SocketListener>(reactor, Bound{std::move(descriptor), bound, IpcFile(bound.path, "")},
                                            make_ipc_stream, std::move(events));
}

std::unique_ptr<Connector> connect_ipc(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    if (endpoint.path == "*") {
        throw_at(EINVAL, endpoint);
    }
    return std::make_unique<SocketConnector>(reactor, Destination{{ipc_address(endpoint)}, 0}, make_ipc_stream,
                                             std::move(on_connected));
}

}  // namespace telegate::transport
