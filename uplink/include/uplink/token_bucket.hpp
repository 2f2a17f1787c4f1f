#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>

namespace telegate::uplink {

/// Limits a rate. A second's worth of tokens is saved; taking more than there are delays the next ones.
///
/// Threads: one. Limits: none. Failure: none.
class TokenBucket {
  public:
    /// Adds the tokens since the last call. A rate of 0 means no limit.
    void refill(MonoTime now, double rate) noexcept;
    /// Whether there are this many tokens, or all that there can be.
    [[nodiscard]] bool has_tokens(double wanted = 0) const noexcept {
        return rate_ <= 0 || (tokens_ > 0 && tokens_ >= std::min(wanted, rate_));
    }
    void take(double tokens) noexcept { tokens_ -= tokens; }
    /// Returns when has_tokens() is true.
    [[nodiscard]] MonoTime due(double wanted = 0) const noexcept;

  private:
    double rate_ = 0;  // per second
    double tokens_ = 0;
    MonoTime filled_at_{};
};

}  // namespace telegate::uplink
