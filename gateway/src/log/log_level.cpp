#include "log/log_level.hpp"

#include "log/log_line.hpp"

#include <utility>

namespace telegate {
namespace {

LogLine change_line(std::string_view from, std::string_view to, std::optional<std::chrono::milliseconds> revert_after) {
    LogLine line = LogLine("log level changed").add("from", from).add("to", to);
    if (revert_after) {
        line.add("for_s", std::chrono::duration_cast<std::chrono::seconds>(*revert_after).count());
    }
    return line;
}

}  // namespace

LogLevel::LogLevel(Reactor& reactor, Log& log, std::string level)
    : reactor_(reactor), log_(log), settled_(std::move(level)), now_{settled_, {}, 0}, timer_(reactor, [this] {
          revert_if_due();
      }) {}

LogLevelStatus LogLevel::status() const {
    const std::lock_guard lock(mutex_);
    return now_;
}

LogLevelStatus LogLevel::set(std::string_view level, std::optional<std::chrono::milliseconds> revert_after,
                             std::string_view who) {
    const std::lock_guard lock(mutex_);
    LogLevelStatus to{std::string(level), {}, 0};
    if (revert_after) {
        to.reverts_to = settled_;
        to.reverts_at_utc_ns = clock_.utc_now_ns() + std::chrono::nanoseconds(*revert_after).count();
        reverts_at_ = clock_.mono_now() + *revert_after;
        reactor_.post([this, pause = *revert_after] { timer_.set(pause); });
    } else {
        settled_ = level;
        reverts_at_ = MonoTime::max();  // a running timer has no effect
    }
    change(change_line(now_.level, level, revert_after).add("by", who), std::move(to));
    return now_;
}

void LogLevel::revert_if_due() {
    const std::lock_guard lock(mutex_);
    if (clock_.mono_now() >= reverts_at_) {
        reverts_at_ = MonoTime::max();
        change(LogLine("log level reverted").add("from", now_.level).add("to", settled_), {settled_, {}, 0});
    }
}

/// Logs the line at whichever of the two levels permits it. Requires that the caller holds the mutex.
void LogLevel::change(const LogLine& line, LogLevelStatus to) {
    const bool was_logged = log_.info_each(line);
    now_ = std::move(to);
    log_.set_level(now_.level);
    if (!was_logged) {
        log_.info_each(line);
    }
}

}  // namespace telegate
