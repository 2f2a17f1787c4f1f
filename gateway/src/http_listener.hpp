#pragma once

#include <cstdint>
#include <string>

namespace telegate {

/// A listening TCP socket, non-blocking. A port that somebody else listens on is never shared.
///
/// Threads: any; accept() may run on several at once.
/// Limits:  the kernel's queue of clients not yet accepted.
/// Failure: the constructor throws std::system_error that names the address.
class HttpListener {
  public:
    /// `host`: a numeric address, or "localhost" for 127.0.0.1; `port` 0: any free one.
    HttpListener(const std::string& host, std::uint16_t port);
    ~HttpListener();
    HttpListener(const HttpListener&) = delete;
    HttpListener& operator=(const HttpListener&) = delete;

    /// "127.0.0.1:8080" or "[::1]:8080", with the real port.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    [[nodiscard]] int socket() const noexcept { return socket_; }

    enum class Outcome {
        accepted,
        none,       // nobody is waiting
        exhausted,  // no descriptor or memory for one more: try again later
    };
    struct Accepted {
        Outcome outcome;
        int socket;  // the caller's; -1 unless accepted
    };
    [[nodiscard]] Accepted accept() const noexcept;
    /// Stops listening: the port is free, waiting clients are refused. Idempotent; not while accept() runs.
    void close() noexcept;

  private:
    int socket_ = -1;
    std::string address_;
};

}  // namespace telegate
