#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace telegate {

/// The pause before the next connection attempt: doubles from the first to the longest, plus up to half of it at
/// random, so that the peers of a restarted server do not all reconnect at the same time.
///
/// Threads: one. Limits: 1.5 times the longest pause. Failure: none.
class ReconnectPause {
  public:
    using Duration = std::chrono::milliseconds;

    ReconnectPause(Duration first, Duration longest, unsigned seed)
        : first_(std::max(first, Duration(1))), longest_(std::max(first_, longest)), next_(first_), random_(seed) {
        random_.discard(2);  // similar seeds give similar first numbers
    }

    /// Returns the next pause.
    [[nodiscard]] Duration next() {
        const Duration pause = next_;
        next_ = std::min(2 * next_, longest_);
        return pause + Duration(std::uniform_int_distribution<Duration::rep>(0, pause.count() / 2)(random_));
    }
    /// Records how long a connection lasted. If that is at least the next pause, the pauses restart with the first. A
    /// connection that is always lost immediately does not restart them.
    void stood(std::chrono::steady_clock::duration time) {
        if (time >= next_) {
            next_ = first_;
        }
    }

  private:
    const Duration first_;
    const Duration longest_;
    Duration next_;
    std::minstd_rand random_;
};

}  // namespace telegate
