#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace telegate {

/// An object that waits for another thread to change memory. It is polled for a short time before the event loop
/// sleeps.
/// Threads: the reactor's. Limits: in BusyPolls at most once. Failure: found() and not_found() may throw.
class BusyPolled {
  public:
    virtual ~BusyPolled() = default;

    /// Returns true if the change has happened.
    [[nodiscard]] virtual bool poll() noexcept = 0;
    /// Called when the change has happened. It is no longer polled.
    virtual void found() = 0;
    /// Called when the change has not happened in time. It is no longer polled: a descriptor must report the change.
    virtual void not_found() = 0;
};

/// The objects that an event loop polls before it sleeps. A peer in the same process often replies faster than a thread
/// wakes up, so that polling costs less for both.
///
/// Threads: the reactor's.
/// Limits: polls for limits::busy_poll_time at a time.
/// Failure: add() may throw std::bad_alloc; an exception of found() or not_found() is passed on.
class BusyPolls {
  public:
    [[nodiscard]] bool empty() const noexcept { return polled_.empty(); }
    void add(BusyPolled& polled) { polled_.push_back(&polled); }
    void remove(const BusyPolled& polled) noexcept;

    /// Polls each object once, except those added meanwhile. Returns true if any was found.
    bool poll();
    /// Polls all objects for a short time, at most until `deadline`. Returns true as soon as any is found. Otherwise
    /// calls not_found() for all of them and returns false.
    bool wait(std::chrono::steady_clock::time_point deadline);

  private:
    void sleep();

    std::vector<BusyPolled*> polled_;
};

}  // namespace telegate
