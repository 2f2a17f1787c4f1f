#pragma once

#include <chrono>
#include <cstdint>

namespace telegate {

using MonoTime = std::chrono::steady_clock::time_point;  // CLOCK_MONOTONIC, nanoseconds
using Duration = std::chrono::nanoseconds;

/// Where the time comes from. Two implementations: SystemClock and the manual clock of the tests.
/// Threads: any.
class Clock {
  public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual MonoTime mono_now() const noexcept = 0;
    /// Nanoseconds since 1970 UTC.
    [[nodiscard]] virtual std::int64_t utc_now_ns() const noexcept = 0;
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

}  // namespace telegate
