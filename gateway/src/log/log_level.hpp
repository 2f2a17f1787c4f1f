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

/// The log level, and when and to which level it reverts.
struct LogLevelStatus {
    std::string level;
    std::string reverts_to;              // "": it does not revert
    std::int64_t reverts_at_utc_ns = 0;  // 0: it does not revert
};

/// The log level while the gateway runs. A temporary level reverts to the last level that was set without a time limit.
///
/// Threads: any; the reactor's thread reverts the level.
/// Limits: one timer.
/// Failure: set() may throw std::bad_alloc; while the reactor does not run, the level does not revert.
class LogLevel {
  public:
    LogLevel(Reactor& reactor, Log& log, std::string level);
    LogLevel(const LogLevel&) = delete;
    LogLevel& operator=(const LogLevel&) = delete;

    [[nodiscard]] LogLevelStatus status() const;
    /// Sets and logs the level, a name allowed by the setting log_level, permanently or until `revert_after` has
    /// passed. If the new level would hide the log line, it is written first.
    LogLevelStatus set(std::string_view level, std::optional<std::chrono::milliseconds> revert_after,
                       std::string_view who);

  private:
    void revert_if_due();
    void change(const LogLine& line, LogLevelStatus to);

    Reactor& reactor_;
    Log& log_;
    const SystemClock clock_;
    mutable std::mutex mutex_;  // guards the members below, except the timer
    std::string settled_;
    LogLevelStatus now_;
    MonoTime reverts_at_ = MonoTime::max();
    Alarm timer_;  // for the reactor's thread
};

}  // namespace telegate
