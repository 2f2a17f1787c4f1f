#pragma once

#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/receiving_socket.hpp"
#include "core/socket_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace telegate {

struct SubscriberTotals : SocketTotals {
    /// Received messages that matched no prefix, because they were in flight during unsubscribe(). They are not passed
    /// to the application.
    std::uint64_t filtered = 0;
    std::size_t subscriptions = 0;
};

/// SUB socket: receives messages that match its prefixes, from any number of publishers. Peers are PUB or XPUB sockets.
/// Can bind and connect.
///
/// Threads: the reactor's, or any while no thread runs the reactor.
/// Limits: reads ahead one receive buffer per publisher, then the publisher has to wait. At most
/// limits::subscriptions_max prefixes. Send segments are at least 64 KiB. A publisher that does not read its
/// subscriptions is closed when backlog_bytes_max of changes are pending, in addition to the list of all prefixes.
/// Failure: bind() and connect() throw std::system_error. A lost publisher is reconnected with exponential backoff and
/// sent all subscriptions again, so none is lost. PeerStatus counts sent subscriptions as messages.
class Subscriber : public ReceivingSocket {
  public:
    Subscriber(Reactor& reactor, SocketOptions options);
    ~Subscriber();

    /// Connects to `endpoint`, and retries until disconnect().
    void connect(const Endpoint& endpoint);
    /// Closes the connections made by connect() and stops retrying. Returns whether there were any.
    bool disconnect(const Endpoint& endpoint);

    /// Subscribes to messages whose first frame begins with `prefix`; "" subscribes to all. A duplicate has no effect,
    /// and one unsubscribe() ends it. Throws std::length_error above limits::subscription_bytes_max and the other
    /// limits of prefixes.
    void subscribe(std::string_view prefix);
    /// Ends a subscription. Afterwards receive() returns no messages that only this prefix matched, even if some are in
    /// flight.
    void unsubscribe(std::string_view prefix);

    /// Closes all connections immediately. Nothing can be received afterwards; bind() and connect() throw
    /// std::logic_error.
    void close();

    [[nodiscard]] SubscriberTotals totals() const;

  private:
    struct State;
    explicit Subscriber(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
