#include "log_limiter.hpp"

#include <utility>

namespace telegate {

std::optional<std::uint64_t> LogLimiter::admit(std::string_view cause) {
    const MonoTime now = clock_.mono_now();
    const std::lock_guard lock(mutex_);
    auto known = causes_.find(cause);
    if (known == causes_.end()) {
        const std::string_view name = causes_.size() < causes_max - 1 ? cause : "other";
        known = causes_.try_emplace(std::string(name), Cause{now - quiet_time, 0}).first;
    }
    Cause& entry = known->second;
    if (now - entry.last < quiet_time) {
        ++entry.held_back;
        return std::nullopt;
    }
    entry.last = now;
    return std::exchange(entry.held_back, 0);
}

}  // namespace telegate
