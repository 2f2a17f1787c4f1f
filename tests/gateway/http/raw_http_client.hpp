#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

inline constexpr std::string_view get_status = "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

inline std::uint16_t port_of(const std::string& address) {
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

/// A plain socket to a server on the loopback interface, for data that a well-behaved HTTP client never sends. Failure:
/// throws if it cannot connect; a wait that is not satisfied within 60 s returns what has arrived.
class RawHttpClient {
  public:
    /// `receive_bytes`: the size of the socket's receive buffer; 0 for the default. `source`: the IPv4 address from
    /// which it connects; null: any.
    explicit RawHttpClient(const std::string& address, int receive_bytes = 0, const char* source = nullptr)
        : socket_(::socket(is_unix(address) ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_bytes > 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
        }
        if (source != nullptr) {
            sockaddr_in own{};
            own.sin_family = AF_INET;
            ::inet_pton(AF_INET, source, &own.sin_addr);
            const void* const name = &own;
            (void)::bind(socket_, static_cast<const sockaddr*>(name), sizeof own);
        }
        if (!(is_unix(address) ? connect_unix(address.substr(unix_scheme.size())) : connect_tcp(port_of(address)))) {
            ::close(socket_);
            throw std::runtime_error("cannot connect to " + address);
        }
    }
    ~RawHttpClient() { ::close(socket_); }
    RawHttpClient(const RawHttpClient&) = delete;
    RawHttpClient& operator=(const RawHttpClient&) = delete;

    RawHttpClient& send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                break;  // the server has closed; what it sent can still be read
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return *this;
    }

    /// Returns everything until the server closes.
    std::string read_all() {
        while (receive()) {
        }
        return std::move(in_);
    }

    /// Returns everything up to and including `mark`, or less if the server closes the connection first.
    std::string read_until(std::string_view mark) {
        std::size_t at = in_.find(mark);
        while (at == std::string::npos && receive()) {
            at = in_.find(mark);
        }
        const std::size_t bytes = at == std::string::npos ? in_.size() : at + mark.size();
        std::string text = in_.substr(0, bytes);
        in_.erase(0, bytes);
        return text;
    }

    /// Returns whether the connection was reset with unread data.
    [[nodiscard]] bool was_reset() const noexcept { return reset_; }

    /// Returns whether the server closes within 60 s, with nothing more to read.
    bool closed_by_server() { return read_all().empty() && (closed_ || reset_); }

    /// Returns whether data arrives in this time.
    bool receives_within(std::chrono::milliseconds time) {
        pollfd waiting{socket_, POLLIN, 0};
        return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0;
    }

    /// Returns whether the server has closed by now.
    bool has_ended() {
        char byte = 0;
        const ssize_t received = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return received == 0 || (received < 0 && errno != EAGAIN);
    }

  private:
    static constexpr std::string_view unix_scheme = "unix:";
    static bool is_unix(const std::string& address) { return address.starts_with(unix_scheme); }

    bool connect_tcp(std::uint16_t port) const {
        sockaddr_in peer{};
        peer.sin_family = AF_INET;
        peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        peer.sin_port = htons(port);
        const void* const name = &peer;
        return ::connect(socket_, static_cast<const sockaddr*>(name), sizeof peer) == 0;
    }

    bool connect_unix(const std::string& path) const {
        sockaddr_un peer{};
        peer.sun_family = AF_UNIX;
        path.copy(peer.sun_path, sizeof peer.sun_path - 1);
        const void* const name = &peer;
        return ::connect(socket_, static_cast<const sockaddr*>(name), sizeof peer) == 0;
    }

    bool receive() {
        pollfd waiting{socket_, POLLIN, 0};
        std::array<char, 65'536> bytes;
        if (::poll(&waiting, 1, 60'000) <= 0) {
            return false;
        }
        const ssize_t received = ::recv(socket_, bytes.data(), bytes.size(), 0);
        closed_ = received == 0;
        reset_ = received < 0;
        if (received > 0) {
            in_.append(bytes.data(), static_cast<std::size_t>(received));
        }
        return received > 0;
    }

    const int socket_;
    std::string in_;
    bool closed_ = false;
    bool reset_ = false;
};

}  // namespace telegate::test
