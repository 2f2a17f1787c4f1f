#include "uplink/progress.hpp"

#include <cmath>
#include <cstdint>

namespace telegate::uplink {

void Progress::note(MonoTime now, store::Position synced, store::Position settled) noexcept {
    const bool is_first = noted_at_ == MonoTime{} || settled < settled_;  // after a rewind, too
    const double seconds = std::chrono::duration<double>(now - noted_at_).count();
    if (!is_first && now - noted_at_ < interval) {
        return;
    }
    if (!is_first) {
        const double weight = seconds / (seconds + std::chrono::duration<double>(average).count());
        live_rate_ += weight * (static_cast<double>(synced - synced_) / seconds - live_rate_);
        delivery_rate_ += weight * (static_cast<double>(settled - settled_) / seconds - delivery_rate_);
    }
    noted_at_ = now;
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
