#pragma once

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "line/pump.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace telegate {

/// The state of the I/O thread.
struct PumpReport {
    Duration silent{0};   // since the oldest unanswered check was posted; 0: it responded
    Duration stalled{0};  // since the pump was first found to take nothing from a non-empty queue
};

/// Checks that the event loop of the I/O thread runs and that the pump drains the queue: it posts a check, at most one
/// at a time, and the loop responds.
///
/// Threads: check(): any, several at once; if the loop does not run, check() reports it as silent.
/// Limits: one pending check; check() waits at most `patience` for the response.
/// Failure: none; a missing response is the result.
class PumpWatch {
  public:
    PumpWatch(Reactor& reactor, const Clock& clock, const Pump& pump);
    PumpWatch(const PumpWatch&) = delete;
    PumpWatch& operator=(const PumpWatch&) = delete;

    /// Returns the state. `silent` is zero if the loop responds within `patience` after the check was posted, by this
    /// call or an earlier one.
    [[nodiscard]] PumpReport check(std::chrono::milliseconds patience);

  private:
    void answer();

    Reactor& reactor_;
    const Clock& clock_;
    const Pump& pump_;
    std::mutex mutex_;  // guards the members below
    std::condition_variable answered_;
    std::uint64_t answers_ = 0;
    std::optional<MonoTime> posted_at_;  // time of the pending check
    std::uint64_t taken_before_ = 0;     // at the last response
    std::optional<MonoTime> stalled_since_;
    Duration stalled_{0};
};

}  // namespace telegate
