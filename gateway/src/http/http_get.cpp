#include "http/http_get.hpp"

#include "core/clock.hpp"
#include "core/unique_fd.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <system_error>

namespace telegate {
namespace {

constexpr std::chrono::seconds response_time_max{2};
constexpr std::size_t response_bytes_max = 64 * 1024;

[[noreturn]] void fail(int error) {
    throw std::runtime_error(std::generic_category().message(error));
}

/// Returns when the socket has one of the events. Throws when `until` has passed.
void wait_for(const UniqueFd& socket, short events, MonoTime until) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd polled{socket.get(), events, 0};
        const int ready = left.count() > 0 ? ::poll(&polled, 1, static_cast<int>(left.count())) : 0;
        if (ready > 0) {
            return;
        }
        if (ready == 0) {
            throw std::runtime_error("no response within " + std::to_string(response_time_max.count()) + " s");
        }
        if (errno != EINTR) {
            fail(errno);
        }
    }
}

struct Server {
    const sockaddr* address;
    std::size_t bytes;
    std::string name;  // for errors
};

UniqueFd connected_to(const Server& server, MonoTime until) {
    UniqueFd socket(::socket(server.address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const auto bytes = static_cast<socklen_t>(server.bytes);
    int error = socket.get() >= 0 && ::connect(socket.get(), server.address, bytes) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        wait_for(socket, POLLOUT, until);
        socklen_t error_bytes = sizeof error;
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &error_bytes);
    }
    if (error != 0) {
        fail(error);
    }
    return socket;
}

std::string response_of(const Server& server, std::string_view target) {
    const MonoTime until = std::chrono::steady_clock::now() + response_time_max;
    const UniqueFd socket = connected_to(server, until);
    const std::string request =
        "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // It is smaller than the buffer of a new connection. If the server has closed, its response may still be there.
    (void)::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    std::string response;
    std::array<char, 4096> part{};
    while (response.size() < response_bytes_max) {
        wait_for(socket, POLLIN, until);
        const auto bytes = ::recv(socket.get(), part.data(), part.size(), 0);
        if (bytes == 0) {
            break;
        }
        if (bytes > 0) {
            response.append(part.data(), static_cast<std::size_t>(bytes));
        } else if (errno != EAGAIN && errno != EINTR) {
            fail(errno);
        }
    }
    return response;
}

std::string response_or_named_error(const Server& server, std::string_view target) {
    try {
        return response_of(server, target);
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(server.name + ": " + error.what());
    }
}

}  // namespace

std::string http_get(const std::string& unix_socket, std::string_view target) {
    const boost::asio::local::stream_protocol::endpoint server(unix_socket);
    return response_or_named_error({server.data(), server.size(), unix_socket}, target);
}

std::string http_get(const std::string& host, std::uint16_t port, std::string_view target) {
    // A server of "localhost" listens on both loopback addresses. The kernel takes an unspecified one as loopback.
    const boost::asio::ip::tcp::endpoint server(boost::asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host),
                                                port);
    const std::string shown = host.find(':') == std::string::npos ? host : '[' + host + ']';
    return response_or_named_error({server.data(), server.size(), shown + ':' + std::to_string(port)}, target);
}

}  // namespace telegate
