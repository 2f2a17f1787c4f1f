#include "log_limiter.hpp"

#include <utility>

namespace telegate {

std::optional<std::uint64_t> LogLimiter::admit(std::string_view cause) {
    const MonoTime now = clock_.mono_now();
    const std::lock_guard lock(mutex_);
    auto known = causes_.find(cause);
    if (known == causes_.end()) {
        const std::string_view name = causes_.size() < causes_max - 1 ? cause : "other";
        known = causes_.try_emplace(std::string(name), Cause{now, 0, 0}).first;
    }
    Cause& entry = known->second;
    if (now - entry.first >= quiet_time) {
        entry.first = now;
        entry.let_in = 0;
    }
    if (entry.let_in == per_minute_) {
        ++entry.held_back;
        return std::nullopt;
    }
    ++entry.let_in;
    return std::exchange(entry.held_back, 0);
}

}  // namespace telegate
