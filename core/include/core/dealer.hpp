#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/receiving_socket.hpp"
#include "core/router.hpp"
#include "core/socket_options.hpp"

namespace telegate {

/// DEALER socket: sends each message to the next peer in turn that is not full, and receives from all peers. Peers are
/// DEALER, REP or ROUTER sockets. Can bind and connect.
///
/// Messages for a connected endpoint stay pending until its peer takes them, even if the connection is lost. A partly
/// sent message is then sent again from its start. A message is dropped and counted if cuts_per_message_max connections
/// are lost while it is being sent, usually because it exceeds the peer's limit; the messages after it are then sent.
///
/// Threads: the reactor's, or any while no thread runs the reactor.
/// Limits: backlog_bytes_max per peer; a full peer is skipped. send() returns full if all peers are full, and
/// unknown_peer if there is no peer and no connected endpoint.
/// Failure: bind() and connect() throw std::system_error. send() throws std::length_error for a message of 4 GiB or
/// more and std::invalid_argument for a message without frames. If a peer of a bound endpoint disconnects, its pending
/// messages are dropped and counted.
class Dealer : public ReceivingSocket {
  public:
    Dealer(Reactor& reactor, SocketOptions options);
    ~Dealer();

    /// Connects to `endpoint`, and retries until disconnect().
    void connect(const Endpoint& endpoint);
    /// Closes the connections made by connect() and stops retrying. Returns whether there were any.
    bool disconnect(const Endpoint& endpoint);

    /// Sends one message of at least one frame; copies it once.
    [[nodiscard]] SendStatus send(std::span<const Bytes> frames);
    [[nodiscard]] SendStatus send(std::initializer_list<std::string_view> frames);

    /// Sets the handler that is called on the reactor's thread when send() can succeed again after full or
    /// unknown_peer. The handler must not destroy the dealer.
    void set_on_writable(std::function<void()> handler);

    /// Like Publisher::close(). Messages for peers that are not connected are dropped. Afterwards send() returns
    /// unknown_peer, and bind() and connect() throw std::logic_error.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

  private:
    struct State;
    explicit Dealer(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
