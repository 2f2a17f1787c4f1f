#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

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

    /// Acquires a permit. Returns false if there is none.
    [[nodiscard]] bool try_acquire(MonoTime now) noexcept {
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

/// A token bucket for each key, such as a client.
///
/// Threads: one at a time. Limits: keys_max buckets; the one that was used longest ago is forgotten first. Failure:
/// try_acquire() may throw std::bad_alloc.
class RateLimits {
  public:
    RateLimits(Rate rate, std::size_t keys_max) : rate_(rate), keys_max_(keys_max) {}

    /// Acquires a permit of a key. Returns false if there is none.
    [[nodiscard]] bool try_acquire(const std::string& key, MonoTime now) {
        if (limits_.size() >= keys_max_ && !limits_.contains(key)) {
            limits_.erase(std::min_element(limits_.begin(), limits_.end(), [](const auto& one, const auto& other) {
                return one.second.used_at() < other.second.used_at();
            }));
        }
        return limits_.try_emplace(key, rate_).first->second.try_acquire(now);
    }

  private:
    const Rate rate_;
    const std::size_t keys_max_;
    std::map<std::string, RateLimit> limits_;
};

}  // namespace telegate
