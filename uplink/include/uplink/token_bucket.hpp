#pragma once

#include "core/clock.hpp"

#include <chrono>

namespace telegate::uplink {

/// Limits a rate. A second's worth of tokens is saved; taking more than there are delays the next ones.
///
/// Threads: one. Limits: none. Failure: none.
class TokenBucket {
  public:
    /// Adds the tokens since the last call. A rate of 0 means no limit.
    void refill(MonoTime now, double rate) noexcept;
    [[nodiscard]] bool has_tokens() const noexcept { return rate_ <= 0 || tokens_ > 0; }
    void take(double tokens) noexcept { tokens_ -= tokens; }
    /// Returns when there are tokens again.
    [[nodiscard]] MonoTime due() const noexcept;

  private:
    double rate_ = 0;  // per second
    double tokens_ = 0;
    MonoTime filled_at_{};
};

}  // namespace telegate::uplink
