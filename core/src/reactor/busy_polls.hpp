#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace telegate {

/// Waits for what another thread does in memory, and is looked at for a short while before the loop goes to sleep.
/// Threads: the reactor's. Limits: in BusyPolls once at a time. Failure: found() and not_found() may throw.
class BusyPolled {
  public:
    virtual ~BusyPolled() = default;

    /// Whether it has come.
    [[nodiscard]] virtual bool look() noexcept = 0;
    /// It has come; not looked at any more.
    virtual void found() = 0;
    /// It has not come in time, and is not looked at any more: a descriptor is to tell.
    virtual void not_found() = 0;
};

/// All that a loop looks at before it sleeps. A peer in the same process often answers within less time than it takes
/// to wake a thread, so that looking is cheaper for both.
///
/// Threads: the reactor's.
/// Limits:  looks for limits::busy_poll_time in one go.
/// Failure: add() may throw std::bad_alloc; what found() and not_found() throw is passed on.
class BusyPolls {
  public:
    [[nodiscard]] bool empty() const noexcept { return polled_.empty(); }
    void add(BusyPolled& polled) { polled_.push_back(&polled); }
    void remove(const BusyPolled& polled) noexcept;

    /// Looks at each of them once; what is added meanwhile is for the next time. Whether something had come.
    bool look();
    /// Looks at all of them for a while, at most until `deadline`; whatever has not come by then goes to sleep. Whether
    /// something had come.
    bool wait(std::chrono::steady_clock::time_point deadline);

  private:
    void sleep();

    std::vector<BusyPolled*> polled_;
};

}  // namespace telegate
