#pragma once

#include "core/clock.hpp"
#include "log_limiter.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// The gateway's log: one line per event to stderr, time and level first, then words and key=value. Life cycle at info,
/// a peer or device that misbehaves at warn, what a person must act on at error.
///
/// Threads: any.
/// Limits:  the limited kinds, see LogLimiter.
/// Failure: a line that cannot be written at once is lost and counted, see StderrSink.
class Log {
  public:
    /// `level` is one of the names that the setting log_level allows.
    explicit Log(std::string_view level);

    /// From now on.
    void set_level(std::string_view level);

    void info(const std::string& line) const;
    void warn(const std::string& line) const;
    void error(const std::string& line) const;
    /// For what peers cause: at most peer_lines_max lines a minute for each cause.
    void info_limited(std::string_view cause, const std::string& line);
    /// The same cause again within a minute is only counted; the next line says how often.
    void warn_limited(std::string_view cause, const std::string& line);

  private:
    static constexpr std::uint32_t peer_lines_max = 60;

    const SystemClock clock_;
    LogLimiter warnings_{clock_, 1};
    LogLimiter peers_{clock_, peer_lines_max};
};

}  // namespace telegate
