#pragma once

#include "core/endpoint.hpp"
#include "transport/unique_fd.hpp"

#include <cstdint>
#include <string>

/// Ways to reach a peer. Each is one file; what they have in common is a stream descriptor that does not block.
namespace telegate::transport {

/// Which file a path named when we made it.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: no file

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// A listening descriptor and the endpoint as it is really bound.
struct Bound {
    UniqueFd descriptor;
    Endpoint endpoint;
    FileIdentity file;  // of an ipc socket that is not abstract
};

/// Binds and listens. Throws std::system_error with the endpoint in its text.
[[nodiscard]] Bound listen(const Endpoint& endpoint);
/// Sets a freshly accepted descriptor up for our kind of traffic. What cannot be set is left as it is.
void tune(int descriptor, Transport transport) noexcept;
/// Who is at the other end: "127.0.0.1:50312", or "pid=712 uid=1000".
[[nodiscard]] std::string describe_peer(int descriptor, Transport transport);
/// Takes back what a bound endpoint left behind: the file of an ipc socket, if it is still the one that we made.
void forget(const Endpoint& endpoint, const FileIdentity& file) noexcept;
/// The file at `path`, a link itself rather than what it leads to.
[[nodiscard]] FileIdentity identify(const std::string& path) noexcept;

// The transports themselves, in tcp.cpp and ipc.cpp.
[[nodiscard]] Bound listen_tcp(const Endpoint& endpoint);
[[nodiscard]] Bound listen_ipc(const Endpoint& endpoint);
void tune_tcp(int descriptor) noexcept;
void tune_ipc(int descriptor) noexcept;
[[nodiscard]] std::string describe_tcp_peer(int descriptor);
[[nodiscard]] std::string describe_ipc_peer(int descriptor);

/// Connections that the kernel may hold for us until we accept; the usual system-wide maximum.
inline constexpr int accept_backlog = 4'096;

}  // namespace telegate::transport
