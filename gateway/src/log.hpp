#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// The gateway's log: one line per event to stderr, level first, then key=value. Life cycle at info, a peer or device
/// that misbehaves at warn, what a person must act on at error.
///
/// Threads: any.
/// Limits:  warn_limited() writes once per cause and minute and remembers causes_max causes.
/// Failure: a line that cannot be written is lost; nothing else happens.
class Log {
  public:
    static constexpr std::size_t causes_max = 64;
    static constexpr std::chrono::minutes quiet_time{1};

    /// `level` is one of the names that the setting log_level allows.
    explicit Log(std::string_view level);

    void debug(const std::string& line) const;
    void info(const std::string& line) const;
    void warn(const std::string& line) const;
    void error(const std::string& line) const;
    /// The same cause again within quiet_time is only counted; the next line says how often.
    void warn_limited(std::string_view cause, const std::string& line);

  private:
    struct Cause {
        std::chrono::steady_clock::time_point last;
        std::uint64_t suppressed = 0;
    };
    /// How many were suppressed before this one, or nullopt when this one is.
    std::optional<std::uint64_t> admit(std::string_view cause);

    std::mutex mutex_;  // guards causes_
    std::map<std::string, Cause, std::less<>> causes_;
};

}  // namespace telegate
