#include "transport/socket_connector.hpp"
#include "transport/socket_listener.hpp"
#include "transport/tcp/tcp_address.hpp"
#include "transport/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace telegate::transport {
namespace {

/// TCP keepalive: the first probe after half a minute of silence, then every ten seconds, three times.
constexpr int keepalive_idle_s = 30;
constexpr int keepalive_interval_s = 10;
constexpr int keepalive_count = 3;

void set_option(int descriptor, int level, int option, int value) noexcept {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
}

PeerName name_tcp_peer(int descriptor) {
    SocketAddress address;
    address.bytes = sizeof address.storage;
    if (::getpeername(descriptor, address.get(), &address.bytes) != 0) {
        return {"gone", ""};
    }
    const Endpoint peer = to_endpoint(address);
    return {tcp_text(peer), peer.host};
}

/// Leaves the kernel's buffer sizes alone, because setting them would disable their automatic tuning.
std::unique_ptr<Stream> make_tcp_stream(Reactor& reactor, UniqueFd descriptor) {
    const int number = descriptor.get();
    set_option(number, IPPROTO_TCP, TCP_NODELAY, 1);  // we batch ourselves; a single message must leave at once
    set_option(number, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(number, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
    set_option(number, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
    set_option(number, IPPROTO_TCP, TCP_KEEPCNT, keepalive_count);
    return std::make_unique<SocketStream>(reactor, std::move(descriptor), name_tcp_peer(number));
}

/// Returns 0, or the errno value why this address cannot be listened on.
int try_listen(UniqueFd& descriptor, const SocketAddress& address) {
    descriptor = UniqueFd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor.get() < 0) {
        return errno;
    }
    set_option(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // not REUSEPORT: a second gateway must be refused
    if (address.family() == AF_INET6) {
        set_option(descriptor.get(), IPPROTO_IPV6, IPV6_V6ONLY,
                   0);  // [::] includes IPv4, whatever the system's default is
    }
    if (::bind(descriptor.get(), address.get(), address.bytes) != 0 ||
        ::listen(descriptor.get(), accept_backlog) != 0) {
        return errno;
    }
    return 0;
}

std::optional<Endpoint> tcp_endpoint(const SocketAddress& address) {
    const bool is_tcp = address.family() == AF_INET || address.family() == AF_INET6;
    return is_tcp ? std::optional(to_endpoint(address)) : std::nullopt;
}

ListeningSocket bind_tcp(const Endpoint& endpoint, const SocketOptions& /*options*/) {
    const Destination places = resolve(endpoint);
    UniqueFd descriptor;
    int error = places.error;
    for (const SocketAddress& address : places.addresses) {
        error = try_listen(descriptor, address);
        if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) {
            break;  // the next address is for systems without this family
        }
    }
    if (error != 0) {
        throw_at(error, endpoint);
    }
    SocketAddress bound;
    bound.bytes = sizeof bound.storage;
    ::getsockname(descriptor.get(), bound.get(), &bound.bytes);
    return {std::move(descriptor), to_endpoint(bound)};
}

std::unique_ptr<Listener> listen_tcp(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                     ListenerEvents events) {
    return std::make_unique<SocketListener>(reactor, bind_tcp(endpoint, options), make_tcp_stream, std::move(events));
}

bool is_at_tcp(const Endpoint& bound, const Endpoint& wanted) {
    const Destination places = resolve(wanted);
    return (wanted.port == 0 || wanted.port == bound.port) &&
           std::any_of(places.addresses.begin(), places.addresses.end(),
                       [&](const SocketAddress& place) { return to_endpoint(place).host == bound.host; });
}

std::unique_ptr<Connector> connect_tcp(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    if (endpoint.host == "*" || endpoint.port == 0) {
        throw_at(EINVAL, endpoint);
    }
    return std::make_unique<SocketConnector>(reactor, resolve(endpoint), make_tcp_stream, std::move(on_connected));
}

}  // namespace

const TransportRow tcp_row{.name = "tcp",
                           .stays_in_process = false,
                           .parse = parse_tcp,
                           .text = tcp_text,
                           .is_any = [](const Endpoint& endpoint) { return endpoint.port == 0; },
                           .listen = listen_tcp,
                           .connect = connect_tcp,
                           .bind = bind_tcp,
                           .endpoint_of = tcp_endpoint,
                           .is_at = is_at_tcp,
                           .make_stream = make_tcp_stream};

}  // namespace telegate::transport
