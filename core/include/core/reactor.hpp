#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace telegate {

class BusyPolls;
class DeferredCalls;

/// The event loop that owns sockets. One thread runs it, and all I/O of core happens on that thread.
///
/// Threads: run(), run_for(), run_until(), poll(): one thread at a time. post(), stop(), is_current(): any.
/// Limits: posted calls are kept until they run. Post from control paths, never once per sample.
/// Failure: an exception that leaves a handler ends the event-loop iteration and is passed to the caller.
class Reactor {
  public:
    Reactor();
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    /// Runs handlers until stop(), or until a handler throws; in the latter case it may be called again.
    void run();
    /// Makes run() return, now and whenever it is called again.
    void stop();
    /// Runs the handlers that are ready, without waiting.
    void poll();
    /// Waits until a handler is ready, for at most `time`, and runs at least one. Returns whether a handler ran.
    bool run_for(std::chrono::milliseconds time);
    /// Like run_for(), with a deadline. time_point::max() means no deadline.
    bool run_until(std::chrono::steady_clock::time_point deadline);

    /// Runs `call` on the thread that runs the reactor.
    void post(std::function<void()> call);
    /// Returns whether the calling thread runs the reactor, or no thread does.
    [[nodiscard]] bool is_current() const noexcept;

    // For core: further work of an event-loop iteration.
    [[nodiscard]] BusyPolls& busy_polls() noexcept;
    [[nodiscard]] DeferredCalls& deferred_calls() noexcept;

  private:
    friend class Alarm;
    friend class Watch;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
