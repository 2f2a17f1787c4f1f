#pragma once

#include "core/endpoint.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"
#include "core/unique_fd.hpp"
#include "transport/stream.hpp"

#include <functional>
#include <memory>
#include <string_view>

/// Ways to reach a peer: tcp.cpp, ipc.cpp, inproc.cpp. What they have in common is Stream, Listener and Connector.
namespace telegate::transport {

/// Accepts connections at one endpoint, for ever: an error of one connection or a lack of descriptors only delays it.
///
/// Threads: the reactor's.
/// Limits:  accepts_per_turn connections in one turn of the loop. Without descriptors it closes newcomers with a spare
///          one, so that they are not left hanging, and pauses.
/// Failure: on_error gets an errno value and a word; nothing stops it but its destruction, which may happen inside a
///          call and frees the endpoint at once.
class Listener {
  public:
    virtual ~Listener() = default;
    /// As bound: with the real port, or the real path.
    [[nodiscard]] virtual const Endpoint& endpoint() const noexcept = 0;
};

struct ListenerEvents {
    std::function<void(std::unique_ptr<Stream>)> on_accept;
    std::function<void(int error)> on_error;
};

/// Binds and listens. Throws std::system_error with the endpoint in its text; a live socket at an ipc path, and a name
/// in use, is std::errc::address_in_use. Destroying the listener takes back the file that it made.
[[nodiscard]] std::unique_ptr<Listener> listen(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                               ListenerEvents events);

/// Listens on a socket that somebody else has bound and listens on: the service manager that started this process. The
/// descriptor is taken over, also when this fails; the file of an ipc socket is left to who made it. Throws
/// std::system_error, which names both, when it is not a listening socket at `endpoint`; port 0 and "*" stand for any.
[[nodiscard]] std::unique_ptr<Listener> adopt(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                              ListenerEvents events);

/// One attempt to reach an endpoint. Destroying it gives the attempt up.
class Connector {
  public:
    virtual ~Connector() = default;
};

/// A null stream comes with an errno value. Called once, never from within connect().
using OnConnected = std::function<void(std::unique_ptr<Stream>, int error)>;

/// Begins an attempt. For inproc it lasts until the name is bound. Throws std::system_error for an endpoint that cannot
/// be connected, whoever listens: "*", port 0, a path that is too long.
[[nodiscard]] std::unique_ptr<Connector> connect(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected);

// The transports themselves.
[[nodiscard]] std::unique_ptr<Listener> listen_tcp(Reactor&, const Endpoint&, ListenerEvents);
[[nodiscard]] std::unique_ptr<Listener> listen_ipc(Reactor&, const Endpoint&, const SocketOptions&, ListenerEvents);
[[nodiscard]] std::unique_ptr<Listener> listen_inproc(Reactor&, const Endpoint&, ListenerEvents);
[[nodiscard]] std::unique_ptr<Listener> adopt_tcp(Reactor&, const Endpoint&, UniqueFd, ListenerEvents);
[[nodiscard]] std::unique_ptr<Listener> adopt_ipc(Reactor&, const Endpoint&, UniqueFd, ListenerEvents);
[[nodiscard]] std::unique_ptr<Connector> connect_tcp(Reactor&, const Endpoint&, OnConnected);
[[nodiscard]] std::unique_ptr<Connector> connect_ipc(Reactor&, const Endpoint&, OnConnected);
[[nodiscard]] std::unique_ptr<Connector> connect_inproc(Reactor&, const Endpoint&, OnConnected);

/// Throws std::system_error with the errno value `error` and the endpoint in its text.
[[noreturn]] void throw_at(int error, const Endpoint& endpoint);

/// Connections that the kernel may hold for us until we accept; the usual system-wide maximum.
inline constexpr int accept_backlog = 4'096;

}  // namespace telegate::transport
