#include "uplink/token_bucket.hpp"

#include <algorithm>

namespace telegate::uplink {

void TokenBucket::refill(MonoTime now, double rate) noexcept {
    if (rate_ <= 0) {
        tokens_ = rate;
    }
    const double seconds = std::chrono::duration<double>(now - filled_at_).count();
    filled_at_ = now;
    rate_ = rate;
    tokens_ = std::min(tokens_ + seconds * rate, rate);
}

MonoTime TokenBucket::due(double wanted) const noexcept {
    if (has_tokens(wanted)) {
        return filled_at_;
    }
    constexpr double seconds_min = 0.001;
    constexpr double seconds_max = 3'600;
    const double seconds = std::clamp((std::min(wanted, rate_) - tokens_) / rate_, seconds_min, seconds_max);
    return filled_at_ + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace telegate::uplink
