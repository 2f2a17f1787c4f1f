#include "http/http_listener.hpp"

#include "core/endpoint.hpp"
#include "core/socket_options.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

HttpPeer tcp_peer(int client, const sockaddr* address, socklen_t bytes) {
    const int yes = 1;  // do not delay the end of a long response until the peer acknowledges (Nagle)
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
        return {};
    }
    std::string_view host = text.data();
    constexpr std::string_view mapped = "::ffff:";  // an IPv4 client of an IPv6 socket
    host.remove_prefix(host.starts_with(mapped) ? mapped.size() : 0);
    return {.address = std::string(host)};
}

HttpPeer unix_peer(int client) {
    ucred credentials{};
    socklen_t bytes = sizeof credentials;
    const bool known = ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == 0;
    constexpr std::uint32_t nobody = 65'534;
    return {.address = "unix", .uid = known ? credentials.uid : nobody};
}

}  // namespace

HttpListener HttpListener::on_tcp(const std::string& host, std::uint16_t port) {
    return HttpListener(listen_at({Transport::tcp, host, port, ""}, {}));
}

HttpListener HttpListener::on_unix(const std::string& path) {
    SocketOptions options;
    options.ipc_mode = 0660;
    const bool is_special = path.starts_with('@') || path == "*";  // in an endpoint, but not here
    return HttpListener(listen_at({Transport::ipc, "", 0, (is_special ? "./" : "") + path}, options));
}

HttpListener HttpListener::adopt(int socket) {
    return HttpListener(adopt_listening(UniqueFd(socket), "[rest] listen"));
}

std::string HttpListener::address() const {
    const std::string text = to_string(socket_.endpoint);
    return (over_tcp() ? "" : "unix:") + text.substr(text.find("://") + 3);
}

HttpListener::Accepted HttpListener::accept() const noexcept {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    void* const raw = &storage;
    auto* const address = static_cast<sockaddr*>(raw);
    UniqueFd client(::accept4(socket(), address, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client.get() < 0) {
        const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return {.outcome = exhausted ? Outcome::exhausted : Outcome::none};
    }
    HttpPeer peer = over_tcp() ? tcp_peer(client.get(), address, bytes) : unix_peer(client.get());
    return {Outcome::accepted, std::move(client), std::move(peer)};
}

void HttpListener::close() noexcept {
    socket_.file.reset();
    socket_.descriptor = UniqueFd();
}

}  // namespace telegate
