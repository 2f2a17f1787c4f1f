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

/// How the log looks and where it goes: the settings of [log], and the level.
struct LogOptions {
    std::string level = "info";   // one of the names that the setting log_level allows
    std::string format = "text";  // or "json"
    std::string file = {};        // "": stderr
};

/// The gateway's log: one line per event, time and level first, then words and key=value; or the same as JSON. Life
/// cycle at info, a peer or device that misbehaves at warn, what a person must act on at error. Where the journal reads
/// stderr, its priorities stand in front. A line that has been written within the last minute is only counted,
/// but for those of acts.
///
/// Threads: any.
/// Limits:  the limited kinds, see LogLimiter; what is remembered of repeated lines, see RepeatedLines.
/// Failure: the constructor throws std::system_error when the file cannot be opened. A line that cannot be written at
///          once is lost and counted, see LogSink.
class Log {
  public:
    explicit Log(const LogOptions& options);
    explicit Log(std::string_view level) : Log(LogOptions{.level = std::string(level)}) {}
    /// Writes how often the last lines were repeated.
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    /// One of the names that the setting log_level allows.
    void set_level(std::string_view level) const;

    void info(const LogLine& line) const;
    void warn(const LogLine& line) const;
    void error(const LogLine& line) const;
    /// For acts, what somebody has changed or asked for: each is written, also when the same was written just now.
    /// Returns whether the level lets it through.
    bool info_each(const LogLine& line) const;
    bool warn_each(const LogLine& line) const;
    bool error_each(const LogLine& line) const;
    /// For what peers cause: at most peer_lines_max lines a minute for each cause.
    void info_limited(std::string_view cause, LogLine line);
    /// The same cause again within a minute is only counted; the next line says how often.
    void warn_limited(std::string_view cause, LogLine line);

    /// For what a device sends: as info_limited(), at the level debug.
    void debug_limited(std::string_view cause, LogLine line);
    /// Whether lines of the level debug are written.
    [[nodiscard]] bool has_debug() const;

    /// Opens the log file anew, as its rotation asks for; says so, or why the old one stays.
    void reopen();

  private:
    struct Output;
    static constexpr std::uint32_t peer_lines_max = 60;

    void write(int level, const LogLine& line) const;
    void output(int level, const std::string& text, std::uint64_t repeated) const;
    bool write_each(int level, const LogLine& line) const;

    const SystemClock clock_;
    LogLimiter warnings_{clock_, 1};
    LogLimiter peers_{clock_, peer_lines_max};
    LogLimiter details_{clock_, peer_lines_max};
    mutable std::mutex mutex_;  // guards repeated_, and keeps the lines in order
    mutable RepeatedLines repeated_{clock_};
    std::unique_ptr<Output> output_;
};

}  // namespace telegate
