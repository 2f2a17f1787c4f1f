#pragma once

#include "core/reactor.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace telegate {

class DeferredCalls;
struct DeferredCall;

/// Calls a handler when a descriptor can be read or written. Each wait leads to one call; wait again after it.
///
/// Threads: the reactor's.
/// Limits: one wait of each kind at a time; waiting again while one is pending has no effect.
/// Failure: the constructor throws std::system_error if the event loop cannot watch another descriptor.
///
/// Does not own the descriptor, and must be destroyed before it is closed. The handler is not called after destruction,
/// which may happen within a call.
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

/// Calls a handler once after a delay.
///
/// Threads: the reactor's. Limits: one delay; setting another one replaces it.
/// Failure: set() may throw std::bad_alloc; then no delay is set.
/// The handler is not called after destruction or cancel(); both may happen within the call.
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

/// Calls a function once after the running handler has returned, at the end of this event-loop iteration or in the
/// next. It processes work that was collected in the meantime. Costs no system call.
///
/// Threads: the reactor's. Limits: one pending call; schedule() has no effect while it is pending. schedule() within an
/// event-loop iteration allocates nothing once the loop is warm. Failure: schedule() may throw std::bad_alloc; then no
/// call is pending. The function is not called after destruction, which may happen within the call.
class Later {
  public:
    Later(Reactor& reactor, std::function<void()> call);
    ~Later();
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;

    void schedule();
    /// Cancels the pending call, if the work has already been done.
    void cancel();

  private:
    DeferredCalls& deferred_calls_;
    const std::shared_ptr<DeferredCall> call_;
};

}  // namespace telegate
