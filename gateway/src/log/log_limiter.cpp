#include "log/log_limiter.hpp"

#include <utility>

namespace telegate {

std::optional<std::uint64_t> LogLimiter::admit(std::string_view cause) {
    const MonoTime now = clock_.mono_now();
    const std::lock_guard lock(mutex_);
    auto known = causes_.find(cause);
    if (known == causes_.end()) {
        if (causes_.size() >= causes_max - 1) {
            forget_quiet(now);
        }
        const std::string_view name = causes_.size() < causes_max - 1 ? cause : other;
        known = causes_.try_emplace(std::string(name), Cause{now, 0, 0}).first;
    }
    Cause& entry = known->second;
    if (now - entry.first >= quiet_time) {
        entry.first = now;
        entry.accepted = 0;
    }
    if (entry.accepted == per_minute_) {
        ++entry.suppressed;
        return std::nullopt;
    }
    ++entry.accepted;
    return std::exchange(entry.suppressed, 0);
}

void LogLimiter::forget_quiet(MonoTime now) {
    std::uint64_t suppressed = 0;
    for (auto cause = causes_.begin(); cause != causes_.end();) {
        if (cause->first != other && now - cause->second.first >= quiet_time) {
            suppressed += cause->second.suppressed;
            cause = causes_.erase(cause);
        } else {
            ++cause;
        }
    }
    if (suppressed > 0) {
        causes_.try_emplace(std::string(other), Cause{now, 0, 0}).first->second.suppressed += suppressed;
    }
}

}  // namespace telegate
