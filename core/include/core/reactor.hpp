#pragma once

#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace telegate {

/// The event loop that owns the transport. One thread runs it; everything of core that does I/O lives on that thread.
///
/// Threads: run() exactly one thread, once; post(), stop() any; is_current() any.
/// Limits:  posted calls are held until they run; post from control paths, never once per sample.
/// Failure: an exception that leaves a handler ends run() and is passed on.
class Reactor {
  public:
    Reactor();
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    /// Runs handlers until stop().
    void run();
    void stop();
    void post(std::function<void()> call);
    /// Whether the caller is inside run(), or run() has not started (construction) or has ended (destruction).
    [[nodiscard]] bool is_current() const noexcept;

    [[nodiscard]] boost::asio::io_context& context() noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
