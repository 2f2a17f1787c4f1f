#include "transport/transport.hpp"

#include <sys/stat.h>
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

void forget(const Endpoint& endpoint, const FileIdentity& file) noexcept {
    if (file.inode != 0 && identify(endpoint.path) == file) {
        ::unlink(endpoint.path.c_str());
    }
}

FileIdentity identify(const std::string& path) noexcept {
    struct stat file {};
    if (::lstat(path.c_str(), &file) != 0) {
        return {};
    }
    return {file.st_dev, file.st_ino};
}

}  // namespace telegate::transport
