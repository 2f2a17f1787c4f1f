#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

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
class Subscriber {
  public:
    Subscriber(Reactor& reactor, SocketOptions options);
    ~Subscriber();
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;

    Endpoint bind(const Endpoint& endpoint);
    void connect(const Endpoint& endpoint);
    bool unbind(const Endpoint& endpoint);
    bool disconnect(const Endpoint& endpoint);
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// Asks for messages whose first frame begins with `prefix`; "" asks for all. A set: twice is once, and one
    /// unsubscribe() ends it. Throws std::length_error above limits::subscription_bytes_max and other limits of
    /// prefixes.
    void subscribe(std::string_view prefix);
    /// From now on receive() gives nothing that only this prefix asked for, though more of it may be under way.
    void unsubscribe(std::string_view prefix);

    /// Takes what has arrived from the next publisher in turn, without waiting. False when there is nothing, or when
    /// one turn's share is used up: then turn the reactor.
    [[nodiscard]] bool receive(MessageBatch& batch);
    /// receive(), turning the reactor until there is something or `time` has passed. Not inside a handler.
    [[nodiscard]] bool receive_for(MessageBatch& batch, std::chrono::milliseconds time);
    /// Called on the reactor's thread when something has come after receive() was false, were it only a part of a
    /// message. Call receive() until it is false; there is no other call before that, but after it has thrown. Must not
    /// destroy the socket.
    void set_on_readable(std::function<void()> handler);

    /// At once. Nothing can be received any more; bind() and connect() throw std::logic_error.
    void close();

    void set_monitor(MonitorHandler handler);
    [[nodiscard]] std::vector<PeerStatus> peers() const;
    [[nodiscard]] SubscriberTotals totals() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
