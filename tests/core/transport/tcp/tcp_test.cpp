#include "core/transport/listening.hpp"
#include "core/transport/stream_reader.hpp"
#include "core/unique_fd.hpp"
#include "support/catch.hpp"
#include "support/raw_peer.hpp"
#include "transport/socket_connector.hpp"
#include "transport/tcp/tcp_address.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <optional>

using namespace telegate;
using namespace telegate::test;

namespace {

bool has_ipv6() {
    return listen_error(tcp_at("::1")) == 0;
}

/// Returns a port without a listener: it was free a moment ago.
std::uint16_t free_port() {
    return Listening(tcp_at("127.0.0.1")).endpoint().port;
}

/// Returns whether a connection to that endpoint reaches the listener.
bool reaches(Listening& listening, const Endpoint& endpoint) {
    const std::size_t before = listening.accepted.size();
    Connecting connecting(listening.reactor, endpoint);
    return listening.turn_until([&] { return connecting.calls == 1; }) && connecting.stream != nullptr &&
           listening.turn_until([&] { return listening.accepted.size() == before + 1; });
}

/// Returns the one open socket of this process that is connected to this local port.
int find_socket(std::uint16_t port) {
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
        transport::SocketAddress own;
        transport::SocketAddress peer;
        own.bytes = peer.bytes = sizeof own.storage;
        if (::getsockname(descriptor, own.get(), &own.bytes) == 0 && own.family() == AF_INET &&
            ntohs(own.as<sockaddr_in>().sin_port) == port && ::getpeername(descriptor, peer.get(), &peer.bytes) == 0) {
            return descriptor;
        }
    }
    return -1;
}

int option(int descriptor, int level, int name) {
    int value = -1;
    socklen_t bytes = sizeof value;
    ::getsockopt(descriptor, level, name, &value, &bytes);
    return value;
}

}  // namespace

TEST_CASE("a free port is found and reported", "[core][transport][tcp]") {
    Listening listening(tcp_at("127.0.0.1"));
    CHECK(listening.endpoint().port != 0);
    CHECK(listening.endpoint() == tcp_at("127.0.0.1", listening.endpoint().port));
    CHECK(reaches(listening, listening.endpoint()));
}

TEST_CASE("a star listens on every IPv4 address", "[core][transport][tcp]") {
    Listening listening(tcp_at("*"));
    CHECK(listening.endpoint() == tcp_at("0.0.0.0", listening.endpoint().port));
    CHECK(reaches(listening, tcp_at("127.0.0.1", listening.endpoint().port)));
    CHECK(reaches(listening, tcp_at("127.0.0.2", listening.endpoint().port)));
}

TEST_CASE("every IPv6 address includes the IPv4 ones, whose peers are shown as IPv4", "[core][transport][tcp]") {
    if (!has_ipv6()) {
        return;
    }
    Listening listening(tcp_at("::"));
    CHECK(listening.endpoint() == tcp_at("::", listening.endpoint().port));
    CHECK(reaches(listening, tcp_at("::1", listening.endpoint().port)));
    CHECK(reaches(listening, tcp_at("127.0.0.1", listening.endpoint().port)));
    CHECK(listening.accepted.at(0)->peer().starts_with("[::1]:"));
    CHECK(listening.accepted.at(0)->address() == "::1");
    CHECK(listening.accepted.at(1)->peer().starts_with("127.0.0.1:"));
    CHECK(listening.accepted.at(1)->address() == "127.0.0.1");
}

TEST_CASE("the name of an interface is resolved to its address, IPv4 before IPv6", "[core][transport][tcp]") {
    Listening listening(tcp_at("lo"));
    CHECK(listening.endpoint() == tcp_at("127.0.0.1", listening.endpoint().port));
    CHECK(reaches(listening, tcp_at("lo", listening.endpoint().port)));
}

TEST_CASE("an unknown interface or zone is reported as no such device", "[core][transport][tcp]") {
    CHECK(listen_error(tcp_at("nowhere0", 5556)) == ENODEV);
    CHECK(listen_error(tcp_at("fe80::1%nowhere0", 5556)) == ENODEV);
    Reactor reactor;
    Connecting connecting(reactor, tcp_at("nowhere0", 5556));  // it may appear later, so the endpoint is not wrong
    CHECK(connecting.calls == 0);
    CHECK(eventually([&] {
        reactor.poll();
        return connecting.calls == 1;
    }));
    CHECK(connecting.error == ENODEV);
}

TEST_CASE("a zone is the name or the number of an interface, and is shown as its name", "[core][transport][tcp]") {
    const auto named = transport::resolve(tcp_at("fe80::1%lo", 7));
    const auto numbered = transport::resolve(tcp_at("fe80::1%1", 7));
    REQUIRE(named.addresses.size() == 1);
    REQUIRE(numbered.addresses.size() == 1);
    CHECK(transport::to_endpoint(named.addresses[0]) == tcp_at("fe80::1%lo", 7));
    CHECK(transport::to_endpoint(numbered.addresses[0]) == tcp_at("fe80::1%lo", 7));
}

TEST_CASE("localhost is 127.0.0.1, and ::1 if that address refuses", "[core][transport][tcp]") {
    Listening listening(tcp_at("localhost"));
    CHECK(listening.endpoint() == tcp_at("127.0.0.1", listening.endpoint().port));
    CHECK(reaches(listening, tcp_at("localhost", listening.endpoint().port)));
    if (has_ipv6()) {
        Listening over_ipv6(tcp_at("::1"));
        CHECK(reaches(over_ipv6, tcp_at("localhost", over_ipv6.endpoint().port)));
    }
}

TEST_CASE("a port in use is an address in use", "[core][transport][tcp]") {
    const Listening listening(tcp_at("127.0.0.1"));
    CHECK(listen_error(listening.endpoint()) == EADDRINUSE);
}

TEST_CASE("a port is free again when its listener is destroyed, although connections linger",
          "[core][transport][tcp]") {
    std::optional<Listening> listening(tcp_at("127.0.0.1"));
    const Endpoint endpoint = listening->endpoint();
    RawPeer peer(endpoint);
    REQUIRE(listening->turn_until([&] { return listening->accepted.size() == 1; }));
    listening.reset();
    CHECK(listen_error(endpoint) == 0);
}

TEST_CASE("an address of another machine cannot be listened on", "[core][transport][tcp]") {
    CHECK(listen_error(tcp_at("203.0.113.1", 5556)) == EADDRNOTAVAIL);
}

TEST_CASE("connecting to a star, to port 0, or to something that is not an address is refused",
          "[core][transport][tcp]") {
    CHECK(connect_error(tcp_at("*", 5556)) == EINVAL);
    CHECK(connect_error(tcp_at("127.0.0.1", 0)) == EINVAL);
    CHECK(listen_error(tcp_at(":::", 1)) == EINVAL);
}

TEST_CASE("a port without a listener refuses in a later iteration", "[core][transport][tcp]") {
    Reactor reactor;
    Connecting connecting(reactor, tcp_at("127.0.0.1", free_port()));
    CHECK(connecting.calls == 0);
    CHECK(eventually([&] {
        reactor.poll();
        return connecting.calls == 1;
    }));
    CHECK(connecting.stream == nullptr);
    CHECK(connecting.error == ECONNREFUSED);
}

TEST_CASE("a canceled attempt makes no call", "[core][transport][tcp]") {
    Listening listening(tcp_at("127.0.0.1"));
    Connecting connecting(listening.reactor, listening.endpoint());
    connecting.connector.reset();
    CHECK(listening.turn_until([&] { return listening.accepted.size() == 1; }));
    CHECK(connecting.calls == 0);
    StreamReader reader(*listening.accepted[0]);
    CHECK(listening.turn_until([&] { return reader.at_end(); }));
}

TEST_CASE("an attempt can be destroyed in its own callback", "[core][transport][tcp]") {
    Listening listening(tcp_at("127.0.0.1"));
    std::unique_ptr<transport::Connector> connector;
    std::unique_ptr<Stream> stream;
    connector =
        transport::connect(listening.reactor, listening.endpoint(), [&](std::unique_ptr<Stream> connected, int) {
            connector.reset();
            stream = std::move(connected);
        });
    CHECK(listening.turn_until([&] { return stream != nullptr; }));
}

TEST_CASE("a socket that is connected to itself counts as refused", "[core][transport][tcp]") {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    transport::SocketAddress own = transport::resolve(tcp_at("127.0.0.1")).addresses.at(0);
    REQUIRE(::bind(socket.get(), own.get(), own.bytes) == 0);
    REQUIRE(::getsockname(socket.get(), own.get(), &own.bytes) == 0);
    REQUIRE(::connect(socket.get(), own.get(), own.bytes) == 0);
    CHECK(transport::outcome_of_connect(socket.get()) == ECONNREFUSED);
}

TEST_CASE("connections are tuned for batches and dead peers, and the buffer sizes are left to the kernel",
          "[core][transport][tcp]") {
    Listening listening(tcp_at("127.0.0.1"));
    Connecting connecting(listening.reactor, listening.endpoint());
    REQUIRE(listening.turn_until([&] { return connecting.stream && listening.accepted.size() == 1; }));
    const int descriptor = find_socket(listening.endpoint().port);
    REQUIRE(descriptor >= 0);
    CHECK(option(descriptor, IPPROTO_TCP, TCP_NODELAY) == 1);
    CHECK(option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE) == 30);
    CHECK(option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL) == 10);
    CHECK(option(descriptor, IPPROTO_TCP, TCP_KEEPCNT) == 3);
    CHECK((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((::fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0);
}

TEST_CASE("a peer that resets its connection is an error for the reader", "[core][transport][tcp]") {
    Listening listening(tcp_at("127.0.0.1"));
    RawPeer peer(listening.endpoint());
    REQUIRE(listening.turn_until([&] { return listening.accepted.size() == 1; }));
    peer.reset();
    StreamReader reader(*listening.accepted[0]);
    CHECK(listening.turn_until([&] {
        reader.read();
        return reader.last.status == IoStatus::error;
    }));
    CHECK(reader.last.error == ECONNRESET);
}
