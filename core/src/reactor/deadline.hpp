#pragma once

#include <chrono>

namespace telegate {

/// Returns the time point `time` from now, at most time_point::max(). Threads: any.
[[nodiscard]] inline std::chrono::steady_clock::time_point deadline_in(std::chrono::milliseconds time) {
    using std::chrono::steady_clock;
    const steady_clock::time_point now = steady_clock::now();
    const auto left = std::chrono::floor<std::chrono::milliseconds>(steady_clock::time_point::max() - now);
    return time < left ? now + time : steady_clock::time_point::max();
}

}  // namespace telegate
