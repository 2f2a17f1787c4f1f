#include "transport/transport.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace telegate::transport {
namespace {

struct Address {
    sockaddr_un name{};
    socklen_t bytes = 0;

    [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&name); }
};

[[noreturn]] void fail(int error, const Endpoint& endpoint) {
    throw std::system_error(error, std::generic_category(), to_string(endpoint));
}

Address to_address(const Endpoint& endpoint) {
    Address address;
    const std::string& path = endpoint.path;
    if (path.empty() || path.size() >= sizeof address.name.sun_path) {
        fail(ENAMETOOLONG, endpoint);
    }
    address.name.sun_family = AF_UNIX;
    std::memcpy(address.name.sun_path, path.data(), path.size());
    address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    if (path.front() == '@') {
        address.name.sun_path[0] = '\0';  // abstract: no file, and the length alone ends the name
    } else {
        ++address.bytes;
    }
    return address;
}

UniqueFd open_socket(const Endpoint& endpoint) {
    UniqueFd descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor.get() < 0) {
        fail(errno, endpoint);
    }
    return descriptor;
}

/// Whether a dead process left this socket behind: nobody answers there. Any other kind of file refuses a connection
/// just the same, and is not ours to remove.
bool is_stale(const Endpoint& endpoint, const Address& address) {
    struct stat file {};
    if (::lstat(endpoint.path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) {
        return false;
    }
    const UniqueFd probe = open_socket(endpoint);
    return ::connect(probe.get(), address.get(), address.bytes) != 0 && errno == ECONNREFUSED;
}

}  // namespace

Bound listen_ipc(const Endpoint& endpoint) {
    const Address address = to_address(endpoint);
    UniqueFd descriptor = open_socket(endpoint);
    if (::bind(descriptor.get(), address.get(), address.bytes) != 0) {
        const int error = errno;
        if (error != EADDRINUSE || endpoint.path.starts_with('@') || !is_stale(endpoint, address)) {
            fail(error, endpoint);
        }
        ::unlink(endpoint.path.c_str());
        if (::bind(descriptor.get(), address.get(), address.bytes) != 0) {
            fail(errno, endpoint);
        }
    }
    if (::listen(descriptor.get(), accept_backlog) != 0) {
        fail(errno, endpoint);
    }
    const bool is_file = !endpoint.path.starts_with('@');
    return {std::move(descriptor), endpoint, is_file ? identify(endpoint.path) : FileIdentity{}};
}

void tune_ipc(int descriptor) noexcept {
    // Unix sockets do not tune themselves as tcp does, and every write is charged to the sender.
    const int send_buffer_bytes = 1 << 20;
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
}

std::string describe_ipc_peer(int descriptor) {
    ucred credentials{};
    socklen_t bytes = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
        return "gone";
    }
    return "pid=" + std::to_string(credentials.pid) + " uid=" + std::to_string(credentials.uid);
}

}  // namespace telegate::transport
