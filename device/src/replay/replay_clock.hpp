#pragma once

#include "core/clock.hpp"

#include <cstdint>

namespace telegate::replay {

/// Calculates when logged moments are due: the logged intervals divided by the speed. The first moment is due
/// immediately, and so is the first moment of each further run of a gateway, whose monotonic clock is unrelated to the
/// previous one. A sample with an earlier time than its predecessor is due together with it.
///
/// Threads: one.
/// Limits: longer intervals between moments count as moments_apart_max_ns.
/// Failure: none.
class ReplayClock {
  public:
    /// Thirty years: longer than any log, and no sum overflows.
    static constexpr double moments_apart_max_ns = 1e18;
    /// A longer delay means that replay was stopped: it continues from now, without a burst.
    static constexpr std::chrono::seconds late_max{1};

    explicit ReplayClock(double speed) noexcept : speed_(speed) {}

    /// Returns when a sample is due. Can be called repeatedly for the same sample.
    [[nodiscard]] MonoTime due(std::int64_t logged_ns, std::uint64_t run, const Clock& clock) noexcept;
    /// Restarts the log. The interval to the first moment is the last logged interval.
    void begin_again() noexcept;
    void reset() noexcept { *this = ReplayClock(speed_); }

  private:
    [[nodiscard]] Duration played(std::int64_t from_ns, std::int64_t to_ns) const noexcept;

    double speed_;
    bool is_running_ = false;
    bool begins_again_ = false;
    std::uint64_t run_ = 0;
    std::int64_t origin_ns_ = 0;                  // logged time of the first moment
    MonoTime origin_{};                           // when origin_ns_ is due
    std::int64_t last_ns_ = 0;                    // logged time of the latest moment
    Duration spacing_ = std::chrono::seconds(1);  // logged interval between the last two moments
};

}  // namespace telegate::replay
