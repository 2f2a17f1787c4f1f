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
    /// Received, and matched by no prefix: what was under way when it was unsubscribed. Not given to the application.
    std::uint64_t filtered = 0;
    std::size_t subscriptions = 0;
};

/// SUB: receives what matches its prefixes from any number of publishers. Talks to PUB and XPUB. Binds and connects.
///
/// Threads: the reactor's, or any while nobody turns the reactor.
/// Limits:  reads ahead one receive buffer per publisher, then lets the publisher wait; subscriptions_max prefixes.
///          Send segments are of 64 KiB at least. A publisher that does not take what it is told is closed when
///          backlog_bytes_max of changes wait for it, besides what telling it all prefixes takes.
/// Failure: bind() and connect() throw std::system_error; a lost publisher is connected again with back-off, and told
///          all subscriptions again: none is ever lost in silence. PeerStatus counts subscriptions that are sent as
///          messages.
class Subscriber : public ReceivingSocket {
  public:
    Subscriber(Reactor& reactor, SocketOptions options);
    ~Subscriber();

    void connect(const Endpoint& endpoint);
    bool disconnect(const Endpoint& endpoint);

    /// Asks for messages whose first frame begins with `prefix`; "" asks for all. A set: twice is once, and one
    /// unsubscribe() ends it. Throws std::length_error above limits::subscription_bytes_max and other limits of
    /// prefixes.
    void subscribe(std::string_view prefix);
    /// From now on receive() gives nothing that only this prefix asked for, though more of it may be under way.
    void unsubscribe(std::string_view prefix);

    /// At once. Nothing can be received any more; bind() and connect() throw std::logic_error.
    void close();

    [[nodiscard]] SubscriberTotals totals() const;

  private:
    struct State;
    explicit Subscriber(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
