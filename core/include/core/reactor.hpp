#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace telegate {

class BusyPolls;
class DeferredCalls;

/// The event loop that owns sockets. One thread turns it; everything of core that does I/O lives on that thread.
///
/// Threads: run(), run_for(), run_until(), poll() one thread at a time; post(), stop() any; is_current() any.
/// Limits:  posted calls are held until they run; post from control paths, never once per sample.
/// Failure: an exception that leaves a handler ends the turn and is passed on.
class Reactor {
  public:
    Reactor();
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    /// Runs handlers until stop(), or until one throws; then it may be called again.
    void run();
    void stop();
    /// Runs the handlers that are ready now, without waiting.
    void poll();
    /// Waits until a handler is ready, at most for `time`, and runs one at least. Whether there was any.
    bool run_for(std::chrono::milliseconds time);
    /// The same; time_point::max() is no deadline.
    bool run_until(std::chrono::steady_clock::time_point deadline);

    void post(std::function<void()> call);
    /// Whether the caller is inside a turn of the loop, or nobody is.
    [[nodiscard]] bool is_current() const noexcept;

    // For core: what else a turn looks at.
    [[nodiscard]] BusyPolls& busy_polls() noexcept;
    [[nodiscard]] DeferredCalls& deferred_calls() noexcept;

  private:
    friend class Alarm;
    friend class Watch;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
