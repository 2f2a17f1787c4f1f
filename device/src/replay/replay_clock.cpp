#include "replay/replay_clock.hpp"

#include <algorithm>

namespace telegate::replay {

MonoTime ReplayClock::due(std::int64_t logged_ns, std::uint64_t run, const Clock& clock) noexcept {
    const MonoTime now = clock.mono_now();
    if (!is_running_ || run != run_) {
        const bool waits = is_running_ && begins_again_;
        origin_ = waits ? origin_ + played(origin_ns_, last_ns_) + played(0, spacing_.count()) : now;
        origin_ns_ = logged_ns;
        last_ns_ = logged_ns;
        run_ = run;
        is_running_ = true;
        begins_again_ = false;
    }
    if (logged_ns > last_ns_) {
        spacing_ = Duration(static_cast<std::int64_t>(
            std::min(static_cast<double>(logged_ns) - static_cast<double>(last_ns_), moments_apart_max_ns)));
        last_ns_ = logged_ns;
    }
    const MonoTime due = origin_ + played(origin_ns_, last_ns_);
    if (now - due > late_max) {
        origin_ += now - due;
        return now;
    }
    return due;
}

void ReplayClock::begin_again() noexcept {
    begins_again_ = true;
}

Duration ReplayClock::played(std::int64_t from_ns, std::int64_t to_ns) const noexcept {
    const double apart = (static_cast<double>(to_ns) - static_cast<double>(from_ns)) / speed_;
    return Duration(static_cast<std::int64_t>(std::min(apart, moments_apart_max_ns)));
}

}  // namespace telegate::replay
