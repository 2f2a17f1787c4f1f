#pragma once

#include "core/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

/// A peer that exchanges raw bytes and never blocks: bytes that the socket does not accept are sent by the next send().
/// Threads: one. Limits: none. Failure: the constructor throws if it cannot connect; later errors are reported by
/// at_end().
class RawPeer {
  public:
    /// A `receive_buffer_bytes` of 0 keeps the system default. `source`: the IPv4 address from which it connects; "":
    /// any.
    explicit RawPeer(const Endpoint& endpoint, int receive_buffer_bytes = 0, const std::string& source = "") {
        const bool is_tcp = endpoint.transport == Transport::tcp;
        socket_ = ::socket(is_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (receive_buffer_bytes > 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
        }
        if (!source.empty()) {
            sockaddr_in address{};
            address.sin_family = AF_INET;
            ::inet_pton(AF_INET, source.c_str(), &address.sin_addr);
            (void)::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        }
        if ((is_tcp ? connect_tcp(endpoint) : connect_ipc(endpoint)) != 0) {
            const int error = errno;
            close();
            throw std::runtime_error("connect " + to_string(endpoint) + ": " + std::strerror(error));
        }
    }
    /// Takes over a connection accepted by a RawListener.
    [[nodiscard]] static RawPeer adopt(int socket) { return RawPeer(socket); }
    RawPeer(RawPeer&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)),
          to_send_(std::move(other.to_send_)),
          sent_(other.sent_),
          received_(std::move(other.received_)),
          at_end_(other.at_end_) {}
    RawPeer& operator=(RawPeer&&) = delete;
    ~RawPeer() { close(); }

    /// Returns whether all bytes were passed to the kernel.
    bool send(std::string_view bytes = {}) {
        to_send_ += bytes;
        while (sent_ < to_send_.size()) {
            const ssize_t sent =
                ::send(socket_, to_send_.data() + sent_, to_send_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0) {
                return false;
            }
            sent_ += static_cast<std::size_t>(sent);
        }
        to_send_.clear();
        sent_ = 0;
        return true;
    }

    /// Reads at most `bytes_max` of the available bytes and returns everything read so far.
    const std::string& read(std::size_t bytes_max = static_cast<std::size_t>(-1)) {
        std::array<char, 64 * 1024> buffer;
        while (!at_end_ && bytes_max > 0) {
            const std::size_t room = bytes_max < buffer.size() ? bytes_max : buffer.size();
            const ssize_t got = ::recv(socket_, buffer.data(), room, MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) {
                break;
            }
            at_end_ = got <= 0;
            received_.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
            bytes_max -= got > 0 ? static_cast<std::size_t>(got) : 0;
        }
        return received_;
    }
    [[nodiscard]] int socket() const noexcept { return socket_; }
    [[nodiscard]] const std::string& received() const noexcept { return received_; }
    /// Returns whether read() has reached the end of the stream or an error.
    [[nodiscard]] bool at_end() const noexcept { return at_end_; }

    void close() {
        if (socket_ >= 0) {
            ::close(std::exchange(socket_, -1));
        }
    }
    /// Closes the connection with RST instead of FIN (tcp).
    void reset() {
        const linger at_once{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

  private:
    explicit RawPeer(int socket) noexcept : socket_(socket) {}

    int connect_tcp(const Endpoint& endpoint) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(endpoint.port);
        ::inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr);
        return ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    int connect_ipc(const Endpoint& endpoint) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const bool is_abstract = endpoint.path.front() == '@';
        std::memcpy(address.sun_path, endpoint.path.data(), endpoint.path.size());
        address.sun_path[0] = is_abstract ? '\0' : address.sun_path[0];
        const std::size_t bytes = offsetof(sockaddr_un, sun_path) + endpoint.path.size() + (is_abstract ? 0 : 1);
        return ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(bytes));
    }

    int socket_ = -1;
    std::string to_send_;
    std::size_t sent_ = 0;  // of to_send_
    std::string received_;
    bool at_end_ = false;
};

}  // namespace telegate::test
