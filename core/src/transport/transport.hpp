#pragma once

#include "core/endpoint.hpp"
#include "core/listening_socket.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"
#include "core/unique_fd.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_stream.hpp"
#include "transport/stream.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// The transports tcp, ipc and inproc. Their common interfaces are Stream, Listener and Connector.
namespace telegate::transport {

/// Accepts connections at one endpoint until it is destroyed: an error of one connection or a lack of descriptors only
/// delays it.
///
/// Threads: the reactor's thread.
/// Limits: accepts_per_turn connections in one event-loop iteration. Without descriptors it uses a spare one to close
/// new connections, so that they do not hang, and pauses.
/// Failure: on_error gets an errno value; nothing but destruction stops it, which may happen inside a callback and
/// frees the endpoint at once.
class Listener {
  public:
    virtual ~Listener() = default;
    /// Returns the endpoint as bound: with the actual port or path.
    [[nodiscard]] virtual const Endpoint& endpoint() const noexcept = 0;
};

struct ListenerEvents {
    std::function<void(std::unique_ptr<Stream>)> on_accept;
    std::function<void(int error)> on_error;
};

/// Binds and listens. Throws std::system_error with the endpoint in its text; a live socket at an ipc path, or a name
/// in use, is std::errc::address_in_use. Destroying the listener removes the file that it created.
[[nodiscard]] std::unique_ptr<Listener> listen(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                               ListenerEvents events);

/// Listens on a socket that another process has bound and put into the listening state: the service manager that
/// started this process. Takes ownership of the descriptor, even on failure; the file of an ipc socket is left to its
/// creator. Throws std::system_error, which names both endpoints, if it is not a listening socket at `endpoint`; port 0
/// and "*" match any.
[[nodiscard]] std::unique_ptr<Listener> adopt(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                              ListenerEvents events);

/// One attempt to connect to an endpoint. Destruction cancels it.
class Connector {
  public:
    virtual ~Connector() = default;
};

/// Called once, never from within connect(). A null stream comes with an errno value.
using OnConnected = std::function<void(std::unique_ptr<Stream>, int error)>;

/// Starts an attempt. For inproc it lasts until the name is bound. Throws std::system_error for an endpoint that can
/// never be connected to: "*", port 0, a path that is too long.
[[nodiscard]] std::unique_ptr<Connector> connect(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected);

/// Everything that depends on the transport of an endpoint. Each transport has one row, in its folder; the functions
/// are those of core/endpoint.hpp, core/listening_socket.hpp and this header.
struct TransportRow {
    std::string_view name;
    bool stays_in_process;
    std::variant<Endpoint, EndpointFault> (*parse)(std::string_view text);  // after "://"
    std::string (*text)(const Endpoint& endpoint);                          // after "://"
    bool (*is_any)(const Endpoint& endpoint);
    std::unique_ptr<Listener> (*listen)(Reactor&, const Endpoint&, const SocketOptions&, ListenerEvents);
    std::unique_ptr<Connector> (*connect)(Reactor&, const Endpoint&, OnConnected);
    // Null if the transport does not use sockets of the system.
    ListeningSocket (*bind)(const Endpoint&, const SocketOptions&);
    std::optional<Endpoint> (*endpoint_of)(const SocketAddress&);  // nullopt: an address of another transport
    bool (*is_at)(const Endpoint& bound, const Endpoint& wanted);  // both of this transport
    MakeStream make_stream;
};

extern const TransportRow tcp_row;
extern const TransportRow ipc_row;
extern const TransportRow inproc_row;

/// Returns the path of an endpoint, for transports whose address is a path.
[[nodiscard]] inline std::string path_text(const Endpoint& endpoint) {
    return endpoint.path;
}

/// Throws std::system_error with the errno value `error` and the endpoint in its text.
[[noreturn]] void throw_at(int error, const Endpoint& endpoint);

/// The number of connections that the kernel may queue until we accept them; the usual system-wide maximum.
inline constexpr int accept_backlog = 4'096;

}  // namespace telegate::transport
