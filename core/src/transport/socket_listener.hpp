#pragma once

#include "core/endpoint.hpp"
#include "core/reactor.hpp"
#include "core/unique_fd.hpp"
#include "core/watch.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_stream.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate::transport {

/// A non-blocking listening socket and the endpoint that it is actually bound to.
struct Bound {
    UniqueFd descriptor;
    Endpoint endpoint;
    std::shared_ptr<const void> file = {};  // of an ipc socket at a path: removed when nothing refers to it
};

/// Listener over a listening socket.
/// Threads: the reactor's thread. Limits: as Listener; one spare descriptor.
/// Failure: as Listener; exceptions from on_accept or on_error are passed on, and the listener continues after a pause.
class SocketListener final : public Listener {
  public:
    /// Throws std::system_error if the event loop cannot watch another descriptor.
    SocketListener(Reactor& reactor, Bound bound, MakeStream make_stream, ListenerEvents events);
    ~SocketListener() override;

    [[nodiscard]] const Endpoint& endpoint() const noexcept override { return bound_.endpoint; }

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
    void wait_a_moment();
    void go_on();

    Reactor& reactor_;
    Bound bound_;
    const MakeStream make_stream_;
    const std::shared_ptr<Calls> calls_;
    UniqueFd spare_;
    Watch watch_;
    Alarm pause_alarm_;
};

/// Returns the address of a socket that another process has bound, and makes it non-blocking and close-on-exec. Throws
/// std::system_error if it is not a listening stream socket; `endpoint` is where it should listen.
[[nodiscard]] SocketAddress listening_address(int descriptor, const Endpoint& endpoint);

/// Throws std::system_error: the socket inherited for `endpoint` is not the right one; `what` completes the sentence.
[[noreturn]] void refuse_adopted(const Endpoint& endpoint, const std::string& what);

}  // namespace telegate::transport
