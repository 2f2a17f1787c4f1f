#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/monitor.hpp"
#include "core/socket_options.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace telegate {

class FairQueue;
class PeerTable;

/// What Dealer, Router and Subscriber do alike: listen, receive, show their peers.
///
/// Threads, Limits, Failure: see each of them.
class ReceivingSocket {
  public:
    ReceivingSocket(const ReceivingSocket&) = delete;
    ReceivingSocket& operator=(const ReceivingSocket&) = delete;

    /// Listens, and returns the endpoint as bound (with the real port). Throws std::system_error.
    Endpoint bind(const Endpoint& endpoint);
    /// Stops listening at the endpoint as bound; peers stay. Whether it was bound.
    bool unbind(const Endpoint& endpoint);
    /// As bound.
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// Takes what has arrived from the next peer in turn, without waiting. False when there is nothing, or when one
    /// turn's share is used up: then turn the reactor.
    [[nodiscard]] bool receive(MessageBatch& batch);
    /// receive(), turning the reactor until there is something or `time` has passed. Not inside a handler.
    [[nodiscard]] bool receive_for(MessageBatch& batch, std::chrono::milliseconds time);
    /// Called on the reactor's thread when something has come after receive() was false, were it only a part of a
    /// message. Call receive() until it is false; there is no other call before that, but after it has thrown. Must not
    /// destroy the socket.
    void set_on_readable(std::function<void()> handler);
    /// Hands everything sent to the sockets, instead of at the end of the turn.
    void flush();

    void set_monitor(MonitorHandler handler);
    [[nodiscard]] std::vector<PeerStatus> peers() const;
    [[nodiscard]] SocketTotals totals() const;

  protected:
    ReceivingSocket(PeerTable& table, FairQueue& queue) noexcept : table_(table), queue_(queue) {}
    ~ReceivingSocket() = default;

  private:
    PeerTable& table_;
    FairQueue& queue_;
};

}  // namespace telegate
