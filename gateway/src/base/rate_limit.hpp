#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>

namespace telegate {

/// A burst, and a sustained rate.
struct Rate {
    double per_second;
    double burst;
};

/// A token bucket.
///
/// Threads: one at a time. Limits: two numbers. Failure: none.
class RateLimit {
  public:
    explicit RateLimit(Rate rate) noexcept : rate_(rate), permits_(rate.burst) {}

    /// Takes a permit. Returns false if there is none.
    [[nodiscard]] bool take(MonoTime now) noexcept {
        const std::chrono::duration<double> time = now - std::max(filled_at_, MonoTime());
        permits_ = std::min(rate_.burst, permits_ + std::max(time.count(), 0.0) * rate_.per_second);
        filled_at_ = std::max(now, filled_at_);
        if (permits_ < 1) {
            return false;
        }
        permits_ -= 1;
        return true;
    }
    [[nodiscard]] MonoTime used_at() const noexcept { return filled_at_; }

  private:
    Rate rate_;
    double permits_;
    MonoTime filled_at_{};
};

}  // namespace telegate
