#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace telegate::perf {

struct RateRange {
    std::uint64_t least;
    std::uint64_t start;
    std::uint64_t most;
};

/// Returns the highest rate, within about 3 %, for which `succeeds(rate)` is true. Doubles the rate from `start` until
/// it fails, or halves it until it succeeds, and then bisects. A rate fails after two attempts, because noise may cause
/// one failure. Throws std::runtime_error if `least` fails.
template <class Succeeds>
std::uint64_t highest_rate(const RateRange& range, const Succeeds& succeeds) {
    constexpr int halvings = 5;
    const auto holds = [&](std::uint64_t rate) {
        const bool at_once = succeeds(rate);
        return at_once || succeeds(rate);
    };
    std::uint64_t good = range.start;
    while (!holds(good)) {
        if (good == range.least) {
            throw std::runtime_error("cannot sustain even " + std::to_string(good) + " samples per second");
        }
        good = std::max(good / 2, range.least);
    }
    std::uint64_t bad = 2 * good;
    while (bad <= range.most && good >= range.start && holds(bad)) {
        good = bad;
        bad *= 2;
    }
    bad = std::min(bad, range.most + 1);
    for (int halving = 0; halving < halvings; ++halving) {
        const std::uint64_t middle = good + (bad - good) / 2;
        (holds(middle) ? good : bad) = middle;
    }
    return good;
}

}  // namespace telegate::perf
