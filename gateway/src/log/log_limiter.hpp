#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Limits the log lines of each cause per quiet_time, so that one noisy peer cannot fill the disk.
///
/// Threads: any.
/// Limits: causes_max causes within quiet_time have separate limits; further causes share one.
/// Failure: admit() may throw std::bad_alloc for a new cause.
class LogLimiter {
  public:
    static constexpr std::size_t causes_max = 64;
    static constexpr std::chrono::minutes quiet_time{1};

    /// `per_minute`: maximum number of lines per cause within quiet_time of the first one.
    LogLimiter(const Clock& clock, std::uint32_t per_minute) : clock_(clock), per_minute_(per_minute) {}

    /// Returns the number of lines suppressed since the last admitted one; nullopt: this line is suppressed too.
    [[nodiscard]] std::optional<std::uint64_t> admit(std::string_view cause);

  private:
    struct Cause {
        MonoTime first;  // of the lines admitted in this quiet_time
        std::uint32_t accepted = 0;
        std::uint64_t suppressed = 0;
    };

    static constexpr std::string_view other = "other";  // further causes, and lines suppressed for forgotten causes

    void forget_quiet(MonoTime now);

    const Clock& clock_;
    const std::uint32_t per_minute_;
    std::mutex mutex_;  // guards causes_
    std::map<std::string, Cause, std::less<>> causes_;
};

}  // namespace telegate
