#pragma once

#include <functional>

namespace telegate::uplink {

/// The event loop of an adapter. It watches one socket. An adapter can be in a module that is loaded at run time and
/// has no access to the functions of the program, so this is an interface.
///
/// Threads: the reactor's. No function calls a handler itself.
/// Limits:  one socket, and one pending call of each kind.
/// Failure: watch() throws std::system_error; all functions but the cancellations may throw std::bad_alloc.
class AdapterLoop {
  public:
    AdapterLoop() = default;
    AdapterLoop(const AdapterLoop&) = delete;
    AdapterLoop& operator=(const AdapterLoop&) = delete;
    virtual ~AdapterLoop() = default;

    /// Watches a socket instead of the previous one. The socket must be open until unwatch().
    virtual void watch(int socket, std::function<void()> on_readable, std::function<void()> on_writable) = 0;
    /// Stops watching. The handlers are not called again. May be called within a handler.
    virtual void unwatch() noexcept = 0;
    /// Each of these leads to one call of a handler. A socket must be watched.
    virtual void wait_readable() = 0;
    virtual void wait_writable() = 0;
    /// Calls `call` once after the running handler has returned. A later call replaces one that is pending.
    virtual void call_later(std::function<void()> call) = 0;
    virtual void cancel_later() noexcept = 0;
};

}  // namespace telegate::uplink
