#pragma once

#include <chrono>

namespace telegate {

/// `time` from now; the end of time when that is farther. Threads: any.
[[nodiscard]] inline std::chrono::steady_clock::time_point deadline_in(std::chrono::milliseconds time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point now = Clock::now();
    const auto left = std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
    return time < left ? now + time : Clock::time_point::max();
}

}  // namespace telegate
