#pragma once

#include "core/endpoint.hpp"
#include "support/raw_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

namespace telegate::test {

/// Listens on a loopback port for a connecting socket of core and exchanges raw bytes.
/// Threads: one. Limits: the kernel's. Failure: the constructor throws if it cannot listen.
class RawListener {
  public:
    /// Port 0 chooses a free port.
    explicit RawListener(std::uint16_t port = 0) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int yes = 1;
        ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        socklen_t bytes = sizeof address;
        if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 || ::listen(socket_, 16) != 0 ||
            ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
            ::close(socket_);
            throw std::runtime_error("cannot listen on the loopback interface");
        }
        endpoint_.host = "127.0.0.1";
        endpoint_.port = ntohs(address.sin_port);
    }
    ~RawListener() { ::close(socket_); }
    RawListener(const RawListener&) = delete;
    RawListener& operator=(const RawListener&) = delete;

    [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }
    /// Returns an accepted connection, or nothing.
    [[nodiscard]] std::optional<RawPeer> accept() {
        const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        return peer < 0 ? std::nullopt : std::optional(RawPeer::adopt(peer));
    }

  private:
    const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    Endpoint endpoint_;
};

}  // namespace telegate::test
