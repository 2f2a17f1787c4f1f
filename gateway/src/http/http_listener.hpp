#pragma once

#include "core/unique_fd.hpp"
#include "http/http_message.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace telegate {

/// A listening, non-blocking TCP or Unix socket. The address is never shared with another listener.
///
/// Threads: any; accept() may run on several at once.
/// Limits: the backlog of the kernel.
/// Failure: the factory functions throw std::system_error, which names the address.
class HttpListener {
  public:
    /// Listens on TCP. `host` is a numeric address, or "localhost" for 127.0.0.1; `port` 0 means any free port.
    [[nodiscard]] static HttpListener on_tcp(const std::string& host, std::uint16_t port);
    /// Listens on a Unix socket that the owner and the group of the file can open. A stale socket file is replaced.
    [[nodiscard]] static HttpListener on_unix(const std::string& path);
    /// Takes ownership of a listening TCP or Unix socket; closes it even if this throws.
    [[nodiscard]] static HttpListener adopt(int socket);
    ~HttpListener();
    HttpListener(HttpListener&& other) noexcept;
    HttpListener& operator=(HttpListener&&) = delete;

    /// Returns the address with the actual port: "127.0.0.1:8080", "[::1]:8080" or "unix:/run/x.sock".
    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    [[nodiscard]] bool over_tcp() const noexcept { return over_tcp_; }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }

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
    explicit HttpListener(int socket) noexcept : socket_(socket) {}

    UniqueFd socket_;
    bool over_tcp_ = true;
    std::string address_;
    std::string path_;                              // removed with the listener; "" if there is none
    std::pair<std::uint64_t, std::uint64_t> file_;  // device and inode of the socket file
};

}  // namespace telegate
