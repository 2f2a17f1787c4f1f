#include "transport/transport.hpp"

#include "transport/socket_listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace telegate {
namespace transport {

namespace {

constexpr std::array rows{&tcp_row, &ipc_row, &inproc_row};  // in the order of Transport
constexpr std::string_view separator = "://";

const TransportRow& row_of(Transport transport) noexcept {
    return *rows[static_cast<std::size_t>(transport)];
}

int option(int descriptor, int name) noexcept {
    int value = 0;
    socklen_t bytes = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
}

[[noreturn]] void refuse_adopted(const std::string& name, const std::string& what) {
    throw std::system_error(EADDRNOTAVAIL, std::generic_category(), name + ": the inherited socket " + what);
}

}  // namespace

std::unique_ptr<Listener> listen(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                 ListenerEvents events) {
    return row_of(endpoint.transport).listen(reactor, endpoint, options, std::move(events));
}

std::unique_ptr<Listener> adopt(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                ListenerEvents events) {
    ListeningSocket socket = adopt_listening(std::move(descriptor), to_string(endpoint));
    const Endpoint& bound = socket.endpoint;
    const TransportRow& row = row_of(bound.transport);
    if (bound.transport != endpoint.transport || !row.is_at(bound, endpoint)) {
        refuse_adopted(to_string(endpoint), "is bound to " + to_string(bound));
    }
    return std::make_unique<SocketListener>(reactor, std::move(socket), row.make_stream, std::move(events));
}

std::unique_ptr<Connector> connect(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    return row_of(endpoint.transport).connect(reactor, endpoint, std::move(on_connected));
}

void throw_at(int error, const Endpoint& endpoint) {
    throw std::system_error(error, std::generic_category(), to_string(endpoint));
}

}  // namespace transport

std::string_view to_string(Transport transport) noexcept {
    return transport::row_of(transport).name;
}

bool stays_in_process(Transport transport) noexcept {
    return transport::row_of(transport).stays_in_process;
}

std::variant<Endpoint, EndpointFault> parse_endpoint(std::string_view text) {
    for (const transport::TransportRow* row : transport::rows) {
        if (text.starts_with(row->name) && text.substr(row->name.size()).starts_with(transport::separator)) {
            return row->parse(text.substr(row->name.size() + transport::separator.size()));
        }
    }
    return EndpointFault{"unknown transport: must begin with tcp://, ipc:// or inproc://"};
}

std::string to_string(const Endpoint& endpoint) {
    const transport::TransportRow& row = transport::row_of(endpoint.transport);
    return std::string(row.name).append(transport::separator).append(row.text(endpoint));
}

bool is_any(const Endpoint& endpoint) noexcept {
    return transport::row_of(endpoint.transport).is_any(endpoint);
}

ListeningSocket listen_at(const Endpoint& endpoint, const SocketOptions& options) {
    const auto bind = transport::row_of(endpoint.transport).bind;
    if (bind == nullptr) {
        transport::throw_at(EINVAL, endpoint);
    }
    return bind(endpoint, options);
}

ListeningSocket adopt_listening(UniqueFd descriptor, const std::string& name) {
    const int socket = descriptor.get();
    if (transport::option(socket, SO_TYPE) != SOCK_STREAM || transport::option(socket, SO_ACCEPTCONN) != 1) {
        transport::refuse_adopted(name, "is not a listening stream socket");
    }
    const int flags = ::fcntl(socket, F_GETFL);
    transport::SocketAddress address;
    address.bytes = sizeof address.storage;
    if (flags < 0 || ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0 || ::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0 ||
        ::getsockname(socket, address.get(), &address.bytes) != 0) {
        throw std::system_error(errno, std::generic_category(), name);
    }
    for (const transport::TransportRow* row : transport::rows) {
        if (row->endpoint_of != nullptr) {
            if (auto endpoint = row->endpoint_of(address)) {
                return {std::move(descriptor), *std::move(endpoint)};
            }
        }
    }
    transport::refuse_adopted(name, "is neither a TCP nor a Unix socket");
}

bool may_conflict(const Endpoint& bound, const Endpoint& wanted) noexcept {
    return bound.transport == wanted.transport && bound.port == wanted.port && bound.path == wanted.path;
}

}  // namespace telegate
