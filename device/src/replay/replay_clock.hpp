#pragma once

#include "core/clock.hpp"

#include <cstdint>

namespace telegate::replay {

/// When recorded moments are due: as far apart as they were, divided by the speed. The first one is due at once; so is
/// the first one of each further recorder, whose monotonic clock has nothing to do with the one before. What was
/// captured before a sample that stands in front of it is due with that one.
///
/// Threads: one.
/// Limits:  moments further apart than moments_apart_max count as so far apart.
/// Failure: none.
class ReplayClock {
  public:
    /// Thirty years: a recording is not as long, and no sum overflows.
    static constexpr double moments_apart_max_ns = 1e18;
    /// What is later than this was not slow but stopped: it goes on from now, without a burst.
    static constexpr std::chrono::seconds late_max{1};

    explicit ReplayClock(double speed) noexcept : speed_(speed) {}

    /// Of the sample at hand, which may be asked for again and again.
    [[nodiscard]] MonoTime due(std::int64_t recorded_ns, std::uint64_t recorder, const Clock& clock) noexcept;
    /// The recording begins again: as long after its last moment as that was after the one before it.
    void begin_again() noexcept;
    void reset() noexcept { *this = ReplayClock(speed_); }

  private:
    [[nodiscard]] Duration played(std::int64_t from_ns, std::int64_t to_ns) const noexcept;

    double speed_;
    bool runs_ = false;
    bool begins_again_ = false;
    std::uint64_t recorder_ = 0;
    std::int64_t origin_ns_ = 0;                  // recorded
    MonoTime origin_{};                           // and when that is due
    std::int64_t last_ns_ = 0;                    // recorded, of the latest moment
    Duration spacing_ = std::chrono::seconds(1);  // between the last two moments, as recorded
};

}  // namespace telegate::replay
