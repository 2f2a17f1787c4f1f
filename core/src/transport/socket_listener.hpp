#pragma once

#include "core/endpoint.hpp"
#include "core/listening_socket.hpp"
#include "core/reactor.hpp"
#include "core/unique_fd.hpp"
#include "core/watch.hpp"
#include "transport/socket_stream.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace telegate::transport {

/// Listener over a listening socket.
/// Threads: the reactor's thread. Limits: as Listener; one spare descriptor.
/// Failure: as Listener; exceptions from on_accept or on_error are passed on, and the listener continues after a pause.
class SocketListener final : public Listener {
  public:
    /// Throws std::system_error if the event loop cannot watch another descriptor.
    SocketListener(Reactor& reactor, ListeningSocket socket, MakeStream make_stream, ListenerEvents events);
    ~SocketListener() override;

    [[nodiscard]] const Endpoint& endpoint() const noexcept override { return socket_.endpoint; }

  private:
    /// Outlives the listener while a callback runs.
    struct Calls {
        ListenerEvents events;
        bool gone = false;
    };
    enum class Outcome : std::uint8_t {
        again,        // one connection was handled
        turned_away,  // the same, but no descriptor was available for it
        stuck,        // the connection is still queued
        none_left,
        gone,  // this listener was destroyed
    };
    /// How the listener continues after an event-loop iteration.
    enum class Next : std::uint8_t { wait, pause, nothing };

    /// Descriptors and memory do not become available within microseconds.
    static constexpr std::chrono::milliseconds pause{100};

    void accept_some();
    [[nodiscard]] Next accept_batch(Calls& calls);
    [[nodiscard]] Outcome accept_one(Calls& calls);
    [[nodiscard]] Outcome turn_one_away();
    void go_on();

    Reactor& reactor_;
    ListeningSocket socket_;
    const MakeStream make_stream_;
    const std::shared_ptr<Calls> calls_;
    UniqueFd spare_;
    Watch watch_;
    Alarm pause_alarm_;
};

}  // namespace telegate::transport
