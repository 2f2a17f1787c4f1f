#include "transport/transport.hpp"

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

std::unique_ptr<Connector> connect(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    switch (endpoint.transport) {
        case Transport::ipc: return connect_ipc(reactor, endpoint, std::move(on_connected));
        case Transport::inproc: return connect_inproc(reactor, endpoint, std::move(on_connected));
        case Transport::tcp: break;
    }
    return connect_tcp(reactor, endpoint, std::move(on_connected));
}

}  // namespace telegate::transport
