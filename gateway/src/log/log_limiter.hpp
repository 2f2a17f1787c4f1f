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

/// Lets the same cause into the log a few times per quiet_time, so that one noisy peer cannot fill the disk.
///
/// Threads: any.
/// Limits:  causes_max causes are told apart within quiet_time; those beyond share one entry.
/// Failure: admit() may throw std::bad_alloc at a new cause.
class LogLimiter {
  public:
    static constexpr std::size_t causes_max = 64;
    static constexpr std::chrono::minutes quiet_time{1};

    /// `per_minute`: how many of one cause are let in within quiet_time of the first of them.
    LogLimiter(const Clock& clock, std::uint32_t per_minute) : clock_(clock), per_minute_(per_minute) {}

    /// How many were held back since the last one that was let in, or nullopt when this one is held back too.
    [[nodiscard]] std::optional<std::uint64_t> admit(std::string_view cause);

  private:
    struct Cause {
        MonoTime first;  // of those that were let in within this quiet_time
        std::uint32_t let_in = 0;
        std::uint64_t held_back = 0;
    };

    static constexpr std::string_view other = "other";  // those beyond, and what was held back of forgotten ones

    void forget_quiet(MonoTime now);

    const Clock& clock_;
    const std::uint32_t per_minute_;
    std::mutex mutex_;  // guards causes_
    std::map<std::string, Cause, std::less<>> causes_;
};

}  // namespace telegate
