#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <string_view>

namespace telegate {

/// When the breaker of a failing device opens, and for how long.
struct BreakerOptions {
    std::uint32_t failures = 3;                    // consecutive failures until it opens; 0: never
    Duration wait = std::chrono::seconds(1);       // until the next attempt; doubles after each failed attempt
    Duration wait_max = std::chrono::seconds(60);  // at least `wait`

    bool operator==(const BreakerOptions&) const = default;
};

enum class BreakerState : std::uint8_t {
    closed,     // the device is read
    open,       // the device failed too often in a row and is not read for a while
    half_open,  // the wait is over; the next reading decides
};
[[nodiscard]] std::string_view to_string(BreakerState state) noexcept;

/// Stops reading a device that fails repeatedly, with exponential backoff. Each wait is jittered by at most a quarter
/// in either direction, so devices that failed together do not retry together.
///
/// Threads: one.
/// Limits: a wait is at most wait_max plus its jitter.
/// Failure: none.
class Breaker {
  public:
    explicit Breaker(BreakerOptions options = {}, std::uint32_t seed = 1) : options_(options), random_(seed * spread) {}

    /// Takes effect at the next failure.
    void adjust(BreakerOptions options) noexcept { options_ = options; }
    /// Records the result of a reading.
    void record_success() noexcept;
    void record_failure(MonoTime now) noexcept;
    void reset() noexcept { record_success(); }

    /// Returns whether the device may be read at `now`. Changes an open breaker to half open when its wait is over.
    [[nodiscard]] bool allows(MonoTime now) noexcept;
    [[nodiscard]] BreakerState state() const noexcept { return state_; }
    /// Returns the time of the next attempt. Only valid while open.
    [[nodiscard]] MonoTime retry_at() const noexcept { return retry_at_; }

  private:
    static constexpr std::uint32_t spread = 0x9E37'79B1;  // decorrelates neighboring seeds

    BreakerOptions options_;
    std::minstd_rand random_;
    BreakerState state_ = BreakerState::closed;
    std::uint32_t failures_ = 0;  // consecutive
    Duration wait_{0};            // the last wait, without jitter; 0: none yet
    MonoTime retry_at_{};
};

}  // namespace telegate
