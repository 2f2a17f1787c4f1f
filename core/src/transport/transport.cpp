#include "transport/transport.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace telegate::transport {

std::unique_ptr<Listener> listen(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                 ListenerEvents events) {
    switch (endpoint.transport) {
        case Transport::ipc: return listen_ipc(reactor, endpoint, options, std::move(events));
        case Transport::inproc: return listen_inproc(reactor, endpoint, std::move(events));
        case Transport::tcp: break;
    }
    return listen_tcp(reactor, endpoint, std::move(events));
}

std::unique_ptr<Listener> adopt(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                ListenerEvents events) {
    switch (endpoint.transport) {
        case Transport::ipc: return adopt_ipc(reactor, endpoint, std::move(descriptor), std::move(events));
        case Transport::inproc: throw_at(EINVAL, endpoint);
        case Transport::tcp: break;
    }
    return adopt_tcp(reactor, endpoint, std::move(descriptor), std::move(events));
}

std::unique_ptr<Connector> connect(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    switch (endpoint.transport) {
        case Transport::ipc: return connect_ipc(reactor, endpoint, std::move(on_connected));
        case Transport::inproc: return connect_inproc(reactor, endpoint, std::move(on_connected));
        case Transport::tcp: break;
    }
    return connect_tcp(reactor, endpoint, std::move(on_connected));
}

void throw_at(int error, const Endpoint& endpoint) {
    throw std::system_error(error, std::generic_category(), to_string(endpoint));
}

}  // namespace telegate::transport
