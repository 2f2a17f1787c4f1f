#pragma once

#include "core/reactor.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace telegate {

class DeferredCalls;
struct DeferredCall;

/// Tells when a descriptor can be read or written. Each wait leads to one call; ask again after it.
///
/// Threads: the reactor's.
/// Limits:  one wait of each kind at a time; asking again while one is pending changes nothing.
/// Failure: the constructor throws std::system_error when the event loop can watch no more.
///
/// Does not own the descriptor and must go before it is closed. No call comes after destruction, which may happen
/// inside a call.
class Watch {
  public:
    Watch(Reactor& reactor, int descriptor, std::function<void()> on_readable, std::function<void()> on_writable);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    void wait_readable();
    void wait_writable();

  private:
    struct State;
    std::shared_ptr<State> state_;
};

/// Calls back once after a time.
///
/// Threads: the reactor's. Limits: one time is set; setting another replaces it.
/// Failure: set() may throw std::bad_alloc; then no time is set.
/// No call comes after destruction or cancel(); either may happen inside the call.
class Alarm {
  public:
    Alarm(Reactor& reactor, std::function<void()> on_ring);
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    void set(std::chrono::milliseconds after);
    void cancel();

  private:
    struct State;
    std::shared_ptr<State> state_;
};

/// Calls back once when the handler that runs has returned, at the end of this turn of the loop or in the next, for
/// work that is collected meanwhile. Costs no system call.
///
/// Threads: the reactor's. Limits: one call is pending; asking again while it is changes nothing. Asking within a turn
/// allocates nothing once the loop is warm. Failure: ask() may throw std::bad_alloc; then nothing is pending.
/// No call comes after destruction, which may happen inside the call.
class Later {
  public:
    Later(Reactor& reactor, std::function<void()> call);
    ~Later();
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;

    void ask();
    /// The work is done already.
    void cancel();

  private:
    DeferredCalls& deferred_calls_;
    const std::shared_ptr<DeferredCall> call_;
};

}  // namespace telegate
