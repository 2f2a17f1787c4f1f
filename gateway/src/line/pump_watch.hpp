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

/// How the io thread is doing.
struct PumpReport {
    Duration silent{0};   // since it was asked for a sign of life that it still owes
    Duration stalled{0};  // since it was first seen to take nothing from a queue that holds samples
};

/// Looks whether the io thread turns its loop and the pump empties the queue: it posts a question, at most one at a
/// time, and the loop answers.
///
/// Threads: ask() any, several at once; while no thread turns the loop it finds silence.
/// Limits:  one question is on its way; it waits for an answer no longer than it is told.
/// Failure: none; what does not answer is what it reports.
class PumpWatch {
  public:
    PumpWatch(Reactor& reactor, const Clock& clock, const Pump& pump);
    PumpWatch(const PumpWatch&) = delete;
    PumpWatch& operator=(const PumpWatch&) = delete;

    /// `silent` is zero when the answer comes within `patience` from when it was asked for, by this call or an earlier
    /// one.
    [[nodiscard]] PumpReport ask(std::chrono::milliseconds patience);

  private:
    void answer();

    Reactor& reactor_;
    const Clock& clock_;
    const Pump& pump_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable answered_;
    std::uint64_t answers_ = 0;
    std::optional<MonoTime> asked_at_;  // of the question on its way
    std::uint64_t taken_before_ = 0;    // at the last answer
    std::optional<MonoTime> stalled_since_;
    Duration stalled_{0};
};

}  // namespace telegate
