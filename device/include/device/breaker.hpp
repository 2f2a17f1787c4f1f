#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <string_view>

namespace telegate {

/// When a device that fails is left alone, and for how long.
struct BreakerOptions {
    std::uint32_t failures = 3;                    // in a row, until it opens; 0: never
    Duration wait = std::chrono::seconds(1);       // after which it is tried again; doubles each time that fails
    Duration wait_max = std::chrono::seconds(60);  // not less than wait

    bool operator==(const BreakerOptions&) const = default;
};

enum class BreakerState : std::uint8_t {
    closed,     // the device is read
    open,       // it has failed too often in a row and is left alone for a while
    half_open,  // the while is over: one reading decides
};
[[nodiscard]] std::string_view to_string(BreakerState state) noexcept;

/// Leaves a device alone that fails again and again, for longer and longer. Waits are jittered, by a quarter at most in
/// either direction, so that devices that failed together are not tried together.
///
/// Threads: one.
/// Limits:  a wait is wait_max and its jitter at most.
/// Failure: none.
class Breaker {
  public:
    explicit Breaker(BreakerOptions options = {}, std::uint32_t seed = 1) : options_(options), random_(seed * spread) {}

    /// Takes effect with the next failure.
    void adjust(BreakerOptions options) noexcept { options_ = options; }
    /// What came of a reading.
    void note_success() noexcept;
    void note_failure(MonoTime now) noexcept;
    void reset() noexcept { note_success(); }

    /// Whether the device may be read at `now`; one that is open becomes half open when its time has come.
    [[nodiscard]] bool allows(MonoTime now) noexcept;
    [[nodiscard]] BreakerState state() const noexcept { return state_; }
    /// While open: when the device is tried again.
    [[nodiscard]] MonoTime retry_at() const noexcept { return retry_at_; }

  private:
    static constexpr std::uint32_t spread = 0x9E37'79B1;  // so that neighbouring seeds have nothing in common

    BreakerOptions options_;
    std::minstd_rand random_;
    BreakerState state_ = BreakerState::closed;
    std::uint32_t failures_ = 0;  // in a row
    Duration wait_{0};            // the last one, without its jitter; 0: none yet
    MonoTime retry_at_{};
};

}  // namespace telegate
