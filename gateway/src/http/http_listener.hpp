#pragma once

#include "http/http_message.hpp"

#include "core/listening_socket.hpp"
#include "core/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace telegate {

/// A listening, non-blocking TCP or Unix socket. The address is never shared with another listener.
///
/// Threads: any; accept() may run on several at once.
/// Limits: the backlog of the kernel.
/// Failure: the factory functions throw std::system_error, which names the address; of an inherited socket that is not
/// suitable, the setting.
class HttpListener {
  public:
    /// Listens on TCP. `host` is a numeric address or "localhost"; `port` 0 means any free port.
    [[nodiscard]] static HttpListener on_tcp(const std::string& host, std::uint16_t port);
    /// Listens on a Unix socket that the owner and the group of the file can open. A stale socket file is replaced.
    [[nodiscard]] static HttpListener on_unix(const std::string& path);
    /// Takes ownership of a listening TCP or Unix socket; closes it even if this throws.
    [[nodiscard]] static HttpListener adopt(int socket);

    /// Returns the address with the actual port: "127.0.0.1:8080", "[::1]:8080" or "unix:/run/x.sock".
    [[nodiscard]] std::string address() const;
    [[nodiscard]] bool over_tcp() const noexcept { return socket_.endpoint.transport == Transport::tcp; }
    [[nodiscard]] int socket() const noexcept { return socket_.descriptor.get(); }

    enum class Outcome {
        accepted,
        none,       // no client is waiting
        exhausted,  // descriptors or memory exhausted; try again later
    };
    struct Accepted {
        Outcome outcome = Outcome::none;
        UniqueFd socket = {};  // empty unless accepted
        HttpPeer peer = {};
    };
    /// Accepts a client. If there is not enough memory for it, its connection is closed.
    [[nodiscard]] Accepted accept() const noexcept;
    /// Stops listening: the address is free and waiting clients are refused. Idempotent. Must not run during accept().
    void close() noexcept;

  private:
    explicit HttpListener(ListeningSocket socket) noexcept : socket_(std::move(socket)) {}

    ListeningSocket socket_;
};

}  // namespace telegate
