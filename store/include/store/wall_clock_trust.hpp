#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace telegate::store {

/// Decides whether the wall clock can be used to tell how old data is: it must not have been stepped or unsynchronized
/// for a while. Time during which nobody has watched it, such as before the start, counts as a step.
///
/// Threads: one.
/// Limits:  a step that happens between two calls and is undone before the second one is not noticed, and is harmless.
/// Failure: none.
class WallClockTrust {
  public:
    static constexpr std::chrono::nanoseconds settling_time = std::chrono::minutes(1);

    /// Returns whether the wall clock can be used at `now`. To be called with each moment that is used.
    [[nodiscard]] bool check(const ClockPair& now, bool is_unsynchronized) noexcept;

  private:
    std::optional<ClockPair> last_;
    std::int64_t doubted_mono_ns_ = 0;  // when there was last a reason not to use it
};

}  // namespace telegate::store
