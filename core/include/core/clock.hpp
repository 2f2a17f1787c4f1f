#pragma once

#include <chrono>
#include <cstdint>

namespace telegate {

using MonoTime = std::chrono::steady_clock::time_point;  // CLOCK_MONOTONIC, nanoseconds
using Duration = std::chrono::nanoseconds;

/// Where the time comes from. SystemClock, one that is watched besides (device/clock_watch.hpp), and the manual clock
/// of the tests.
/// Threads: any.
class Clock {
  public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual MonoTime mono_now() const noexcept = 0;
    /// Nanoseconds since 1970 UTC.
    [[nodiscard]] virtual std::int64_t utc_now_ns() const noexcept = 0;
    /// Whether it is known, at that time on the monotonic clock, that nothing keeps utc_now_ns() right.
    [[nodiscard]] virtual bool utc_is_unsynchronised(std::int64_t /*mono_ns*/) const noexcept { return false; }
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

/// One moment by both clocks, in ns.
struct ClockPair {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
    std::int64_t between_ns = 0;  // so long it took to read them: they are at most that far apart
};

/// Now, by both clocks, at most some microseconds apart. Only a thread that is put aside in each of a few tries gets a
/// pair further apart.
[[nodiscard]] ClockPair read_both(const Clock& clock) noexcept;

}  // namespace telegate
