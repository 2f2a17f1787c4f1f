#pragma once

#include "core/clock.hpp"
#include "log_limiter.hpp"

#include <string>
#include <string_view>

namespace telegate {

/// The gateway's log: one line per event to stderr, time and level first, then words and key=value. Life cycle at info,
/// a peer or device that misbehaves at warn, what a person must act on at error.
///
/// Threads: any.
/// Limits:  warn_limited() writes once per cause and minute, see LogLimiter.
/// Failure: a line that cannot be written is lost; nothing else happens.
class Log {
  public:
    /// `level` is one of the names that the setting log_level allows.
    explicit Log(std::string_view level);

    void info(const std::string& line) const;
    void warn(const std::string& line) const;
    /// The same cause again within a minute is only counted; the next line says how often.
    void warn_limited(std::string_view cause, const std::string& line);

  private:
    const SystemClock clock_;
    LogLimiter limiter_{clock_};
};

}  // namespace telegate
