#pragma once

#include "core/reactor.hpp"
#include "core/watch.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace telegate {

/// The end of a socket: closes its sessions at the end of the grace period, and notifies the callers of close() when it
/// has no sessions left.
///
/// Threads: the reactor's. Limits: one notification per call of begin(). Failure: all but state() may throw
/// std::bad_alloc.
class SocketClosing {
  public:
    enum class State : std::uint8_t { open, closing, destroyed };

    SocketClosing(Reactor& reactor, std::function<void()> on_grace_end);

    [[nodiscard]] State state() const noexcept { return state_; }
    /// Calls `done`, unless empty, in an event-loop iteration after finish(). Returns whether this is the first call.
    bool begin(std::function<void()> done);
    /// A second call can only shorten the grace period.
    void set_grace(std::chrono::milliseconds grace);
    /// The socket has no sessions left.
    void finish();
    /// The socket is being destroyed, so the ends of its sessions have no consequences.
    void destroy() noexcept { state_ = State::destroyed; }

  private:
    void notify();

    State state_ = State::open;
    std::chrono::steady_clock::time_point grace_end_ = std::chrono::steady_clock::time_point::max();
    std::vector<std::function<void()>> on_closed_;
    Alarm grace_alarm_;
    Later later_notify_;
};

}  // namespace telegate
