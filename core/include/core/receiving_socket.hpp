#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/monitor.hpp"
#include "core/socket_options.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace telegate {

class FairQueue;
class PeerTable;

/// The common part of Dealer, Router and Subscriber: listening, receiving and the status of peers.
///
/// Threads, Limits, Failure: see the derived classes.
class ReceivingSocket {
  public:
    ReceivingSocket(const ReceivingSocket&) = delete;
    ReceivingSocket& operator=(const ReceivingSocket&) = delete;

    /// Listens on `endpoint`, as Publisher::bind() does. Throws std::system_error.
    Endpoint bind(const Endpoint& endpoint, std::optional<Security> security = std::nullopt);
    /// Stops listening on a bound endpoint; its peers stay connected. Returns whether the endpoint was bound.
    bool unbind(const Endpoint& endpoint);
    /// Returns the bound endpoints, with the actual ports.
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// Receives the messages that have arrived from the next peer in turn, without waiting. Returns false if there are
    /// none, or if the limit for one event-loop iteration is reached; then run the reactor.
    [[nodiscard]] bool receive(MessageBatch& batch);
    /// Like receive(), but runs the reactor until messages arrive or `time` has passed. Must not be called in a
    /// handler.
    [[nodiscard]] bool receive_for(MessageBatch& batch, std::chrono::milliseconds time);
    /// Sets the handler that is called on the reactor's thread when data has arrived after receive() returned false,
    /// even if it is only part of a message. The handler must call receive() until it returns false; it is not called
    /// again before that, unless it threw. It must not destroy the socket.
    void set_on_readable(std::function<void()> handler);
    /// Hands all sent messages to the sockets, instead of at the end of the event-loop iteration.
    void flush();

    /// Replaces the monitor. An empty handler turns monitoring off.
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
