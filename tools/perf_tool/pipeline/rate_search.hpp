#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace telegate::perf {

/// The highest rate at which `succeeds(rate)` holds, to about 3 %, by trials: the rate is doubled from `start` until
/// one fails, or halved until one succeeds, and then the gap is halved. A rate that fails once is tried once more,
/// since a noisy machine loses a trial that it could have won. Throws std::runtime_error when not even `least`
/// succeeds.
struct RateRange {
    std::uint64_t least;
    std::uint64_t start;
    std::uint64_t most;
};

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
            throw std::runtime_error("not even " + std::to_string(good) + " a second can be sustained");
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
