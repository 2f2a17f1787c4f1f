#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/receiving_socket.hpp"
#include "core/socket_options.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

namespace telegate {

enum class SendStatus : std::uint8_t {
    sent,          // added to the peer's backlog; written at the end of this event-loop iteration, or earlier
    unknown_peer,  // no peer with this identity is connected
    full,          // the peer's backlog is full; the handler of set_on_writable() is called when it is not
};

/// ROUTER socket: addresses each peer by its identity. Peers are DEALER, REQ or ROUTER sockets. Can bind and connect.
///
/// A peer that connects with an identity in use takes it over. The older connection, usually a dead one, is sent
/// nothing more, and its pending messages are dropped and counted. Messages that it has already sent are still
/// received, before any message of its successor, for a few seconds at most and for a limited number of connections
/// (see limits.hpp). Until then, peers() includes it. The monitor reports if not all of them were received. Under
/// CURVE, only a client with the same key may take over an identity; otherwise the new connection is closed.
///
/// A peer without an identity gets one of five bytes, the first of them zero. So does a peer whose identity is an alias
/// of this router. MessageBatch::peer() returns the sender of a batch.
///
/// Messages are received and sent unchanged: the empty frame that a REQ peer puts in front is kept, and must be put in
/// front of the reply.
///
/// Threads: the reactor's, or any while no thread runs the reactor.
/// Limits: backlog_bytes_max per peer; then send() returns full. Reads ahead one receive buffer per peer.
/// Failure: bind() and connect() throw std::system_error. send() throws std::length_error for a message of 4 GiB or
/// more and std::invalid_argument for a message without frames. A message is never sent partially or dropped without
/// being counted. Pending messages for an alias survive the loss of the connection, as with Dealer.
class Router : public ReceivingSocket {
  public:
    Router(Reactor& reactor, SocketOptions options);
    ~Router();

    /// Like the functions of Publisher with the same names.
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, Security security);
    bool set_security(const Endpoint& endpoint, Security security);
    /// Closes the peers that were accepted at a bound endpoint. They can read what is pending and are closed after
    /// `grace`, or up to a second later.
    void close_peers(const Endpoint& endpoint, std::chrono::milliseconds grace);
    /// Closes one connection, by PeerStatus::id. `why` is reported to the monitor. Returns whether the connection
    /// existed.
    bool close_peer(std::uint64_t id, std::string_view why);
    /// Connects to `endpoint`, and retries until disconnect().
    void connect(const Endpoint& endpoint) { connect(endpoint, {}); }
    /// Connects to `endpoint` and addresses the peer as `alias`, whatever its own identity. Messages can be sent to the
    /// alias before the peer is connected. Throws std::invalid_argument if the alias is not a valid identity or is in
    /// use.
    void connect(const Endpoint& endpoint, std::string_view alias);
    /// Closes the connections made by connect() and stops retrying. Returns whether there were any.
    bool disconnect(const Endpoint& endpoint);

    /// Sends one message of at least one frame to `peer`; copies it once.
    [[nodiscard]] SendStatus send(std::string_view peer, std::span<const Bytes> frames);
    [[nodiscard]] SendStatus send(std::string_view peer, std::initializer_list<std::string_view> frames);

    /// Stops reading from this peer and receiving its messages until resume(), for example while it cannot be sent
    /// replies. Ends when the peer disconnects or another connection takes over its identity. Ignores unknown peers.
    void pause(std::string_view peer);
    void resume(std::string_view peer);
    /// Returns whether a peer with this identity is connected.
    [[nodiscard]] bool knows(std::string_view peer) const;
    /// Returns the pending bytes for all peers together. Visits each peer.
    [[nodiscard]] std::size_t backlog_bytes() const;

    /// Sets the handler that is called on the reactor's thread when a full peer has capacity again or has disconnected,
    /// and when a peer has connected. The handler must not destroy the router.
    void set_on_writable(std::function<void(std::string_view peer)> handler);

    /// Like Publisher::close(). Afterwards send() returns unknown_peer for every peer, and bind() and connect() throw
    /// std::logic_error.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

  private:
    struct State;
    explicit Router(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
