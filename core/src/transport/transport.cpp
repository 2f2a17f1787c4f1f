#include "transport/transport.hpp"

#include <unistd.h>

namespace telegate::transport {

Bound listen(const Endpoint& endpoint) {
    return endpoint.transport == Transport::tcp ? listen_tcp(endpoint) : listen_ipc(endpoint);
}

void tune(int descriptor, Transport transport) noexcept {
    transport == Transport::tcp ? tune_tcp(descriptor) : tune_ipc(descriptor);
}

std::string describe_peer(int descriptor, Transport transport) {
    return transport == Transport::tcp ? describe_tcp_peer(descriptor) : describe_ipc_peer(descriptor);
}

void forget(const Endpoint& endpoint) noexcept {
    if (endpoint.transport == Transport::ipc && !endpoint.path.starts_with('@')) {
        ::unlink(endpoint.path.c_str());
    }
}

}  // namespace telegate::transport
