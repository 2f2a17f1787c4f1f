#include "transport/ipc/ipc_file.hpp"
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
#include <string_view>
#include <utility>

namespace telegate::transport {
namespace {

constexpr std::size_t path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

std::variant<Endpoint, EndpointFault> parse_ipc(std::string_view text) {
    if (text.empty() || text == "@") {
        return EndpointFault{"empty path: use ipc://PATH, ipc://@NAME or ipc://*"};
    }
    if (text.size() > path_bytes_max) {
        return EndpointFault{"path too long: must be at most " + std::to_string(path_bytes_max) + " bytes"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return EndpointFault{"invalid path: contains a zero byte"};
    }
    return Endpoint{Transport::ipc, "", 0, std::string(text)};
}

bool is_temporary(const Endpoint& endpoint) {
    return endpoint.path == "*";
}

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
    return std::make_unique<SocketStream>(reactor, std::move(descriptor), std::move(name));
}

/// Abstract names begin with '@' in the path of the endpoint.
std::optional<Endpoint> ipc_endpoint(const SocketAddress& address) {
    if (address.family() != AF_UNIX) {
        return std::nullopt;
    }
    const auto& name = address.as<sockaddr_un>();
    const std::size_t bytes = address.bytes - offsetof(sockaddr_un, sun_path);
    const bool is_abstract = bytes > 0 && name.sun_path[0] == '\0';
    return Endpoint{Transport::ipc, "", 0,
                    is_abstract ? '@' + std::string(name.sun_path + 1, bytes - 1)
                                : std::string(name.sun_path, ::strnlen(name.sun_path, bytes))};
}

ListeningSocket bind_ipc(const Endpoint& endpoint, const SocketOptions& options) {
    UniqueFd descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor.get() < 0) {
        throw_at(errno, endpoint);
    }
    ListeningSocket bound{std::move(descriptor), endpoint};
    if (endpoint.path.starts_with('@')) {
        const SocketAddress address = ipc_address(endpoint);
        if (::bind(bound.descriptor.get(), address.get(), address.bytes) != 0 ||
            ::listen(bound.descriptor.get(), accept_backlog) != 0) {
            throw_at(errno, endpoint);
        }
    } else {
        const auto file = listen_at_path(bound.descriptor.get(), endpoint, options);
        bound.endpoint.path = file->path();
        bound.file = file;
    }
    return bound;
}

std::unique_ptr<Listener> listen_ipc(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                     ListenerEvents events) {
    return std::make_unique<SocketListener>(reactor, bind_ipc(endpoint, options), make_ipc_stream, std::move(events));
}

bool is_at_ipc(const Endpoint& bound, const Endpoint& wanted) {
    return is_temporary(wanted) || wanted.path == bound.path;
}

std::unique_ptr<Connector> connect_ipc(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    if (endpoint.path == "*") {
        throw_at(EINVAL, endpoint);
    }
    return std::make_unique<SocketConnector>(reactor, Destination{{ipc_address(endpoint)}, 0}, make_ipc_stream,
                                             std::move(on_connected));
}

}  // namespace

const TransportRow ipc_row{.name = "ipc",
                           .stays_in_process = false,
                           .parse = parse_ipc,
                           .text = path_text,
                           .is_any = is_temporary,
                           .listen = listen_ipc,
                           .connect = connect_ipc,
                           .bind = bind_ipc,
                           .endpoint_of = ipc_endpoint,
                           .is_at = is_at_ipc,
                           .make_stream = make_ipc_stream};

}  // namespace telegate::transport
