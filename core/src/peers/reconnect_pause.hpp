#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace telegate {

/// How long to wait before the next attempt to connect: doubles from the first pause to the longest, and adds up to
/// half at random, so that the peers of a server that comes back do not all come at once.
///
/// Threads: one. Limits: the longest pause and half of it. Failure: none.
class ReconnectPause {
  public:
    using Duration = std::chrono::milliseconds;

    ReconnectPause(Duration first, Duration longest, unsigned seed)
        : first_(std::max(first, Duration(1))), longest_(std::max(first_, longest)), next_(first_), random_(seed) {
        random_.discard(2);  // the first ones differ little when the seeds do
    }

    /// The pause that comes now.
    [[nodiscard]] Duration take() {
        const Duration pause = next_;
        next_ = std::min(2 * next_, longest_);
        return pause + Duration(std::uniform_int_distribution<Duration::rep>(0, pause.count() / 2)(random_));
    }
    /// A connection stood for this long. One that outlived the pause before it starts again with the first pause; one
    /// that is always lost at once does not.
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
