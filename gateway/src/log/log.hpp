#pragma once

#include "core/clock.hpp"
#include "log/log_limiter.hpp"
#include "log/log_line.hpp"
#include "log/repeated_lines.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace telegate {

/// Format and destination of the log: the settings of [logging], and the level.
struct LogOptions {
    std::string level = "info";  // a name allowed by the setting log_level
    bool is_json = false;        // whether lines are JSON objects, not text
    std::string file = {};       // "": stderr
};

/// The gateway's log: one line per event with time, level, message and key=value fields, or the same as JSON. Levels:
/// info for the life cycle, warn for misbehaving peers and devices, error for problems that require a person to act. If
/// the journal reads stderr, lines start with its priority prefix. A line that was written within the last minute is
/// only counted, except with the *_each() functions.
///
/// Threads: any.
/// Limits: see LogLimiter for limited lines, and RepeatedLines for repeated ones.
/// Failure: the constructor throws std::system_error if the file cannot be opened. A line that cannot be written
/// immediately is lost and counted, see LogSink.
class Log {
  public:
    explicit Log(const LogOptions& options);
    explicit Log(std::string_view level) : Log(LogOptions{.level = std::string(level)}) {}
    /// Writes the counts of lines that were repeated.
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    /// `level`: a name allowed by the setting log_level.
    void set_level(std::string_view level) const;

    void info(const LogLine& line) const;
    void warn(const LogLine& line) const;
    void error(const LogLine& line) const;
    /// For actions and requests of people: always written, even if the same line was just written. Returns whether the
    /// level permits the line.
    bool info_each(const LogLine& line) const;
    bool warn_each(const LogLine& line) const;
    bool error_each(const LogLine& line) const;
    /// For lines caused by peers: at most peer_lines_max lines per minute for each cause.
    void info_limited(std::string_view cause, LogLine line);
    /// Writes a cause once per minute and counts repetitions; the next line reports their number.
    void warn_limited(std::string_view cause, LogLine line);

    /// For data sent by devices: like info_limited(), at level debug.
    void debug_limited(std::string_view cause, LogLine line);
    /// Returns whether lines of level debug are written.
    [[nodiscard]] bool has_debug() const;

    /// Reopens the log file, for log rotation; logs the result. If that fails, the old file stays in use.
    void reopen();

  private:
    struct Output;
    static constexpr std::uint32_t peer_lines_max = 60;

    void write(int level, const LogLine& line) const;
    void write_limited(LogLimiter& limiter, int level, std::string_view cause, LogLine line) const;
    void output(int level, const std::string& text, std::uint64_t repeated) const;
    bool write_each(int level, const LogLine& line) const;

    const SystemClock clock_;
    LogLimiter warnings_{clock_, 1};
    LogLimiter peers_{clock_, peer_lines_max};
    LogLimiter details_{clock_, peer_lines_max};
    mutable std::mutex mutex_;  // guards repeated_ and keeps the lines in order
    mutable RepeatedLines repeated_{clock_};
    std::unique_ptr<Output> output_;
};

}  // namespace telegate
