#include "http_listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

namespace telegate {
namespace {

constexpr int backlog = 128;

std::string address_text(const std::string& host, const std::string& port) {
    return host.find(':') == std::string::npos ? host + ':' + port : '[' + host + "]:" + port;
}

[[noreturn]] void fail(int error, const std::string& address) {
    throw std::system_error(error, std::generic_category(), "cannot listen on " + address);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Never asks the resolver, which could block the start and would load its modules for good.
Addresses resolve(const std::string& host, const std::string& port) {
    addrinfo* found = nullptr;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
    const std::string numeric = host == "localhost" ? "127.0.0.1" : host;
    if (::getaddrinfo(numeric.c_str(), port.c_str(), &hints, &found) != 0) {
        fail(EADDRNOTAVAIL, address_text(host, port));
    }
    return {found, &::freeaddrinfo};
}

std::string bound_address(int socket) {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    void* const address = &storage;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getsockname(socket, static_cast<sockaddr*>(address), &bytes) != 0 ||
        ::getnameinfo(static_cast<sockaddr*>(address), bytes, host.data(), host.size(), port.data(), port.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return {};
    }
    return address_text(host.data(), port.data());
}

}  // namespace

HttpListener::HttpListener(const std::string& host, std::uint16_t port) {
    const std::string service = std::to_string(port);
    const Addresses addresses = resolve(host, service);
    socket_ = ::socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) {
        fail(errno, address_text(host, service));
    }
    // Lets a restart have the port while old connections still time out. Not SO_REUSEPORT, which would let two daemons
    // have it, each answering every other request.
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket_, addresses->ai_addr, addresses->ai_addrlen) != 0 || ::listen(socket_, backlog) != 0) {
        const int error = errno;
        close();
        fail(error, address_text(host, service));
    }
    address_ = bound_address(socket_);
}

HttpListener::~HttpListener() {
    close();
}

HttpListener::Accepted HttpListener::accept() const noexcept {
    const int client = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
        const int yes = 1;  // the end of a long answer is not held back for the peer's acknowledgement
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        return {Outcome::accepted, client};
    }
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return {exhausted ? Outcome::exhausted : Outcome::none, -1};
}

void HttpListener::close() noexcept {
    if (socket_ >= 0) {
        ::close(socket_);
        socket_ = -1;
    }
}

}  // namespace telegate
