#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace telegate {

using MonoTime = std::chrono::steady_clock::time_point;  // CLOCK_MONOTONIC, nanoseconds
using Duration = std::chrono::nanoseconds;

/// A source of time: SystemClock, a clock that is also monitored (device/clock_watch.hpp), or the manual clock of the
/// tests.
/// Threads: any.
class Clock {
  public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual MonoTime mono_now() const noexcept = 0;
    /// Returns nanoseconds since 1970 UTC.
    [[nodiscard]] virtual std::int64_t utc_now_ns() const noexcept = 0;
    /// Returns whether the wall clock is known to be unsynchronized at the given time of the monotonic clock.
    [[nodiscard]] virtual bool utc_is_unsynchronized(std::int64_t /*mono_ns*/) const noexcept { return false; }
};

class SystemClock final : public Clock {
  public:
    [[nodiscard]] MonoTime mono_now() const noexcept override { return std::chrono::steady_clock::now(); }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override {
        using namespace std::chrono;
        return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    }
};

[[nodiscard]] constexpr std::int64_t to_ns(MonoTime time) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// Returns a duration of at least 0 as system calls expect it.
[[nodiscard]] constexpr timespec to_timespec(Duration time) noexcept {
    const auto whole = std::chrono::floor<std::chrono::seconds>(time);
    return {.tv_sec = whole.count(), .tv_nsec = static_cast<long>((time - whole).count())};
}

/// One moment on both clocks, in ns.
struct ClockPair {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
    std::int64_t between_ns = 0;  // time needed to read both: they are at most this far apart
};

/// Reads both clocks. The values are at most a few microseconds apart, unless the thread is preempted in every attempt.
[[nodiscard]] ClockPair read_both(const Clock& clock) noexcept;

}  // namespace telegate
