#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/receiving_socket.hpp"
#include "core/router.hpp"
#include "core/socket_options.hpp"

namespace telegate {

/// DEALER: sends each message to the next peer in turn that has room, and receives from all. Talks to DEALER, REP and
/// ROUTER. Binds and connects.
///
/// What is sent to a connected endpoint waits for its peer, also over a loss of the connection; a message partly sent
/// then is sent again from its start. One that cuts_per_message_max connections were lost in the middle of, mostly
/// since it is over the peer's limit, is given up and counted as dropped, so that those behind it are sent.
///
/// Threads: the reactor's, or any while nobody turns the reactor.
/// Limits:  backlog_bytes_max for each peer, then it is passed over; send() answers full when all are, and
///          unknown_peer when nothing is bound to a peer or connected.
/// Failure: bind() and connect() throw std::system_error, send() std::length_error for a message of 4 GiB or more
///          and std::invalid_argument for one without frames; what waits for a peer of a bound endpoint goes with it,
///          counted.
class Dealer : public ReceivingSocket {
  public:
    Dealer(Reactor& reactor, SocketOptions options);
    ~Dealer();

    void connect(const Endpoint& endpoint);
    bool disconnect(const Endpoint& endpoint);

    /// Sends one message of at least one frame; copies it once.
    [[nodiscard]] SendStatus send(std::span<const Bytes> frames);
    [[nodiscard]] SendStatus send(std::initializer_list<std::string_view> frames);

    /// Called on the reactor's thread when send() can go on after full or unknown_peer. Must not destroy the dealer.
    void set_on_writable(std::function<void()> handler);

    /// As Publisher::close(). What waits for a peer that is not there is given up; send() answers unknown_peer.
    /// bind() and connect() throw std::logic_error afterwards.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

  private:
    struct State;
    explicit Dealer(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
