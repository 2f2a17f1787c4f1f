#pragma once

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "log/log.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// A log level, and when it goes back to what.
struct LogLevelStatus {
    std::string level;
    std::string reverts_to;              // "" when it stays
    std::int64_t reverts_at_utc_ns = 0;  // 0 when it stays
};

/// The level of the log while the gateway runs. It may be changed for a time; then it goes back by itself to the level
/// that was set last without one.
///
/// Threads: any; the reactor's brings the level back.
/// Limits:  one timer. Failure: set() may throw std::bad_alloc; while the reactor does not run nothing goes back.
class LogLevel {
  public:
    LogLevel(Reactor& reactor, Log& log, std::string level);
    LogLevel(const LogLevel&) = delete;
    LogLevel& operator=(const LogLevel&) = delete;

    [[nodiscard]] LogLevelStatus status() const;
    /// `level` is one of the names that the setting log_level allows. Without a time it stays. Logged, also when the
    /// new level hides it: then before it counts.
    LogLevelStatus set(std::string_view level, std::optional<std::chrono::milliseconds> revert_after,
                       std::string_view who);

  private:
    void revert_if_due();

    Reactor& reactor_;
    Log& log_;
    const SystemClock clock_;
    mutable std::mutex mutex_;  // guards the rest but for the timer
    std::string settled_;
    LogLevelStatus now_;
    MonoTime reverts_at_ = MonoTime::max();
    Alarm timer_;  // the reactor's
};

}  // namespace telegate
