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
    sent,          // in the peer's backlog, on its way at the end of this turn of the loop, or sooner
    unknown_peer,  // nobody of this identity is connected
    full,          // the peer's backlog has no room; on_writable tells when it has
};

/// ROUTER: talks to each peer by its identity. Talks to DEALER, REQ and ROUTER. Binds and connects.
///
/// A peer that comes with an identity in use takes it over: the older connection, mostly a dead one, is sent nothing
/// more, and what waits for it is dropped and counted. What had come from it is still given out, before anything of its
/// successor, until its end or for a few seconds, of a few connections (limits.hpp); peers() has them until then. The
/// monitor says when not all was read. Under CURVE only the same
/// key may take over; another one's connection is closed instead. A peer without identity gets one of
/// five bytes, the first of them zero, and so does one that tells an alias of ours. MessageBatch::peer() tells who sent
/// a batch. Messages are given as they come and sent as they are: the empty frame that a REQ peer puts in front stays,
/// and belongs in front of the answer.
///
/// Threads: the reactor's, or any while nobody turns the reactor.
/// Limits:  backlog_bytes_max for each peer, then send() answers full; reads ahead one receive buffer per peer.
/// Failure: bind() and connect() throw std::system_error, send() std::length_error for a message of 4 GiB or more
///          and std::invalid_argument for one without frames; nothing is ever sent in part or dropped in silence. What
///          waits for an alias is kept over a loss of the connection, as Dealer keeps it.
class Router : public ReceivingSocket {
  public:
    Router(Reactor& reactor, SocketOptions options);
    ~Router();

    using ReceivingSocket::bind;
    /// As Publisher's of the same names.
    Endpoint bind(const Endpoint& endpoint, Security security);
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, Security security);
    bool set_security(const Endpoint& endpoint, Security security);
    /// Closes the peers that have come in at the endpoint as bound: each may take what is pending, and is cut after
    /// `grace`, or up to a second later.
    void close_peers(const Endpoint& endpoint, std::chrono::milliseconds grace);
    /// Closes one connection, by PeerStatus::id. Whether there was one. `why` is for the monitor.
    bool close_peer(std::uint64_t id, std::string_view why);
    void connect(const Endpoint& endpoint) { connect(endpoint, {}); }
    /// The peer at `endpoint` is known as `alias` here, from now on, whatever identity it tells; messages may be sent
    /// to it before it is reached. Throws std::invalid_argument for an alias that is no identity or is in use.
    void connect(const Endpoint& endpoint, std::string_view alias);
    bool disconnect(const Endpoint& endpoint);

    /// Sends one message of at least one frame to `peer`; copies it once.
    [[nodiscard]] SendStatus send(std::string_view peer, std::span<const Bytes> frames);
    [[nodiscard]] SendStatus send(std::string_view peer, std::initializer_list<std::string_view> frames);

    /// Gives out nothing more of this peer, and reads nothing more from it, until resume(): for who cannot answer it.
    /// It ends with the connection, and when another one takes the identity over. Nothing for an unknown peer.
    void pause(std::string_view peer);
    void resume(std::string_view peer);
    /// Whether somebody of this identity is connected.
    [[nodiscard]] bool knows(std::string_view peer) const;
    /// What waits for all peers together; looks at each.
    [[nodiscard]] std::size_t backlog_bytes() const;

    /// Called on the reactor's thread when a peer that was full has room again or is gone, and when a peer has come.
    /// Must not destroy the router.
    void set_on_writable(std::function<void(std::string_view peer)> handler);

    /// As Publisher::close(). From now on every peer is unknown to send(); bind() and connect() throw std::logic_error.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

  private:
    struct State;
    explicit Router(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
