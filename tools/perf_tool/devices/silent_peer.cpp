#include "silent_peer.hpp"

#include "checked.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace telegate::perf {

namespace {

/// Takes what has come; false when that was the end.
bool swallow(int connection) {
    std::array<char, 1'024> ignored{};
    const ssize_t bytes = ::recv(connection, ignored.data(), ignored.size(), MSG_DONTWAIT);
    return bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

SilentPeer::SilentPeer()
    : listener_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")),
      stop_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    socklen_t bytes = sizeof address;
    checked(::bind(listener_.get(), name, bytes), "bind");
    checked(::listen(listener_.get(), SOMAXCONN), "listen");
    checked(::getsockname(listener_.get(), name, &bytes), "getsockname");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
}

SilentPeer::~SilentPeer() {
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
}

void SilentPeer::run() {
    std::vector<pollfd> waited;
    for (;;) {
        const bool has_room = connections_.size() < connections_max;
        waited.assign({{stop_.get(), POLLIN, 0}, {listener_.get(), static_cast<short>(has_room ? POLLIN : 0), 0}});
        const std::size_t before = waited.size();
        for (const UniqueFd& connection : connections_) {
            waited.push_back({connection.get(), POLLIN, 0});
        }
        (void)::poll(waited.data(), waited.size(), -1);
        if (waited[0].revents != 0) {
            return;
        }
        for (std::size_t place = connections_.size(); place-- > 0;) {
            if (waited[before + place].revents != 0 && !swallow(connections_[place].get())) {
                std::swap(connections_[place], connections_.back());
                connections_.pop_back();
            }
        }
        if (waited[1].revents != 0) {
            accept_one();
        }
    }
}

void SilentPeer::accept_one() {
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() >= 0) {
        connections_.push_back(std::move(connection));
        accepted_.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace telegate::perf
