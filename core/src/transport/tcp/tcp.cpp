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

std::unique_ptr<Listener> listen_tcp(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& /*options*/,
                                     ListenerEvents events) {
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
    return std::make_unique<SocketListener>(reactor, Bound{std::move(descriptor), to_endpoint(bound)}, make_tcp_stream,
                                            std::move(events));
}

std::unique_ptr<Listener> adopt_tcp(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                    ListenerEvents events) {
    const SocketAddress address = listening_address(descriptor.get(), endpoint);
    const Endpoint bound =
        address.family() == AF_INET || address.family() == AF_INET6 ? to_endpoint(address) : Endpoint{};
    const Destination places = resolve(endpoint);
    const bool is_there =
        std::any_of(places.addresses.begin(), places.addresses.end(), [&](const SocketAddress& place) {
            return place.family() == address.family() && to_endpoint(place).host == bound.host;
        });
    if (!is_there || (endpoint.port != 0 && endpoint.port != bound.port)) {
        refuse_adopted(endpoint, bound.host.empty() ? "is not a TCP socket" : "is bound to " + to_string(bound));
    }
    return std::make_unique<SocketListener>(reactor, Bound{std::move(descriptor), bound}, make_tcp_stream,
                                            std::move(events));
}

std::unique_ptr<Connector> connect_tcp(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    if (endpoint.host == "*" || endpoint.port == 0) {
        throw_at(EINVAL, endpoint);
    }
    return std::make_unique<SocketConnector>(reactor, resolve(endpoint), make_tcp_stream, std::move(on_connected));
}

}  // namespace

extern const TransportRow tcp_row{.name = "tcp",
                                  .stays_in_process = false,
                                  .parse = parse_tcp,
                                  .text = tcp_text,
                                  .is_any = [](const Endpoint& endpoint) { return endpoint.port == 0; },
                                  .listen = listen_tcp,
                                  .adopt = adopt_tcp,
                                  .connect = connect_tcp};

}  // namespace telegate::transport
