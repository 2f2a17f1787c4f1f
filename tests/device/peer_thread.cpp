#include "peer_thread.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace telegate::test {

Listener::Listener(int backlog) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (socket_ < 0 || ::bind(socket_, any, bytes) != 0 || (backlog > 0 && ::listen(socket_, backlog) != 0) ||
        ::getsockname(socket_, any, &bytes) != 0) {
        throw std::system_error(errno, std::generic_category(), "listen");
    }
    port_ = ntohs(address.sin_port);
}

Listener::~Listener() {
    ::close(socket_);
}

void PeerThread::accept_on(int listener, Serve begin, Serve serve) {
    thread_ = std::thread([this, listener, begin = std::move(begin), serve = std::move(serve)] {
        while (!stop_.is_set()) {
            std::array<pollfd, 2> watched{pollfd{stop_.descriptor(), POLLIN, 0}, pollfd{listener, POLLIN, 0}};
            if (::poll(watched.data(), watched.size(), -1) <= 0 || watched[1].revents == 0) {
                continue;
            }
            const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (connection >= 0) {
                if (begin(connection)) {
                    serve_until_end(connection, serve);
                }
                ::close(connection);
            }
        }
    });
}

void PeerThread::serve_line(int descriptor, Serve serve) {
    thread_ = std::thread([this, descriptor, serve = std::move(serve)] {
        while (!stop_.is_set()) {
            serve_until_end(descriptor, serve);
            pollfd stopped{stop_.descriptor(), POLLIN, 0};
            ::poll(&stopped, 1, 1);  // the near end is not open
        }
    });
}

void PeerThread::serve_until_end(int descriptor, const Serve& serve) {
    while (!stop_.is_set()) {
        std::array<pollfd, 2> watched{pollfd{stop_.descriptor(), POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
        if (::poll(watched.data(), watched.size(), -1) <= 0 || watched[1].revents == 0) {
            continue;
        }
        if ((watched[1].revents & POLLIN) == 0 || !serve(descriptor)) {
            return;
        }
    }
}

void PeerThread::stop() {
    if (thread_.joinable()) {
        stop_.set();
        thread_.join();
    }
}

}  // namespace telegate::test
