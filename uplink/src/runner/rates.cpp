#include "uplink/rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

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

void SendingRates::refill(MonoTime now, double samples, double entries) noexcept {
    samples_.refill(now, samples);
    entries_.refill(now, entries);
}

MonoTime SendingRates::due(const OutgoingMessage& message) const noexcept {
    const double samples = message.is_historical ? static_cast<double>(message.samples) : 0;
    const double entries = message.is_historical ? static_cast<double>(message.entries()) : 0;
    return std::max(samples_.due(samples), entries_.due(entries));
}

void SendingRates::consume(const OutgoingMessage& message) noexcept {
    samples_.consume(static_cast<double>(message.samples));
    entries_.consume(static_cast<double>(message.entries()));
}

void Progress::record(MonoTime now, store::Position synced, store::Position settled) noexcept {
    const bool is_first = recorded_at_ == MonoTime{} || settled < settled_;  // after a rewind, too
    const double seconds = std::chrono::duration<double>(now - recorded_at_).count();
    if (!is_first && now - recorded_at_ < interval) {
        return;
    }
    if (!is_first) {
        const double weight = seconds / (seconds + std::chrono::duration<double>(average).count());
        live_rate_ += weight * (static_cast<double>(synced - synced_) / seconds - live_rate_);
        delivery_rate_ += weight * (static_cast<double>(settled - settled_) / seconds - delivery_rate_);
    }
    recorded_at_ = now;
    synced_ = synced;
    settled_ = settled;
}

std::optional<std::chrono::seconds> Progress::catch_up_time() const noexcept {
    constexpr double seconds_max = 315'360'000;  // ten years
    if (settled_ >= synced_) {
        return std::chrono::seconds(0);
    }
    const double gain = delivery_rate_ - live_rate_;
    const double seconds = gain > 0 ? static_cast<double>(synced_ - settled_) / gain : seconds_max;
    return seconds < seconds_max ? std::optional(std::chrono::seconds(static_cast<std::int64_t>(std::ceil(seconds))))
                                 : std::nullopt;
}

}  // namespace telegate::uplink
