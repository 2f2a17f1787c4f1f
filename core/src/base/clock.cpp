#include "core/clock.hpp"

#include <limits>

namespace telegate {

ClockPair read_both(const Clock& clock) noexcept {
    constexpr int tries = 5;
    constexpr std::int64_t close_ns = 2'000;  // if it takes longer, something interrupted the reading
    ClockPair best{.between_ns = std::numeric_limits<std::int64_t>::max()};
    for (int attempt = 0; attempt < tries && best.between_ns > close_ns; ++attempt) {
        const std::int64_t before = to_ns(clock.mono_now());
        const std::int64_t utc = clock.utc_now_ns();
        const std::int64_t between = to_ns(clock.mono_now()) - before;
        if (between < best.between_ns) {
            best = {utc, before + between / 2, between};
        }
    }
    return best;
}

}  // namespace telegate
