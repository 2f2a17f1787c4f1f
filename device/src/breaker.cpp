#include "device/breaker.hpp"

#include <algorithm>

namespace telegate {

std::string_view to_string(BreakerState state) noexcept {
    switch (state) {
        case BreakerState::closed: return "closed";
        case BreakerState::open: return "open";
        case BreakerState::half_open: return "half_open";
    }
    return "";
}

void Breaker::record_success() noexcept {
    state_ = BreakerState::closed;
    failures_ = 0;
    wait_ = Duration(0);
}

void Breaker::record_failure(MonoTime now) noexcept {
    failures_ += failures_ < options_.failures ? 1U : 0U;
    if (options_.failures == 0 || failures_ < options_.failures) {
        state_ = BreakerState::closed;
        return;
    }
    wait_ = wait_ == Duration(0) ? options_.wait : std::min(2 * wait_, std::max(options_.wait, options_.wait_max));
    constexpr std::int64_t steps = 1'000;  // of the jitter: waits range from 3/4 to 5/4
    const auto step = std::uniform_int_distribution<std::int64_t>(0, steps)(random_);
    retry_at_ = now + 3 * wait_ / 4 + wait_ / (2 * steps) * step;
    state_ = BreakerState::open;
}

bool Breaker::allows(MonoTime now) noexcept {
    if (state_ == BreakerState::open && now >= retry_at_) {
        state_ = BreakerState::half_open;
    }
    return state_ != BreakerState::open;
}

}  // namespace telegate
