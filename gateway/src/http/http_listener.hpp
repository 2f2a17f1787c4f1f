#pragma once

#include "core/unique_fd.hpp"
#include "http/http_message.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace telegate {

/// A listening socket, non-blocking: TCP or Unix. An address that somebody else listens on is never shared.
///
/// Threads: any; accept() may run on several at once.
/// Limits:  the kernel's queue of clients not yet accepted.
/// Failure: the functions that make one throw std::system_error that names the address.
class HttpListener {
  public:
    /// `host`: a numeric address, or "localhost" for 127.0.0.1; `port` 0: any free one.
    [[nodiscard]] static HttpListener on_tcp(const std::string& host, std::uint16_t port);
    /// Open to the owner and the group of the file. What is left of a dead listener is replaced.
    [[nodiscard]] static HttpListener on_unix(const std::string& path);
    /// Takes over a socket of either kind that listens already; it is closed even when this throws.
    [[nodiscard]] static HttpListener adopt(int socket);
    ~HttpListener();
    HttpListener(HttpListener&& other) noexcept;
    HttpListener& operator=(HttpListener&&) = delete;

    /// "127.0.0.1:8080", "[::1]:8080" or "unix:/run/x.sock", with the real port.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    [[nodiscard]] bool over_tcp() const noexcept { return over_tcp_; }
    [[nodiscard]] int socket() const noexcept { return socket_; }

    enum class Outcome {
        accepted,
        none,       // nobody is waiting
        exhausted,  // no descriptor or memory for one more: try again later
    };
    struct Accepted {
        Outcome outcome = Outcome::none;
        UniqueFd socket = {};  // none unless accepted
        HttpPeer peer = {};
    };
    /// When there is no memory for a client, its connection is closed.
    [[nodiscard]] Accepted accept() const noexcept;
    /// Stops listening: the address is free, waiting clients are refused. Idempotent; not while accept() runs.
    void close() noexcept;

  private:
    explicit HttpListener(int socket) noexcept : socket_(socket) {}

    int socket_;
    bool over_tcp_ = true;
    std::string address_;
    std::string path_;                              // to be removed with the listener; "" for none
    std::pair<std::uint64_t, std::uint64_t> file_;  // what was made there: the numbers of its device and of itself
};

}  // namespace telegate
