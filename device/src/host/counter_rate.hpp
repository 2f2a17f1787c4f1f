#pragma once

#include <cstdint>
#include <optional>

namespace telegate::host {

/// The maximum rate of a counter. A faster step means that the counter restarted.
struct RateLimits {
    double per_second_max;
    double wrapped_per_second_max;  // for steps across 2^32, because only old or slow hardware still counts in 32 bits
};

/// Returns the mean rate per second between two readings of a counter, `seconds` apart.
///
/// A lower value means that a 32-bit counter overflowed if the earlier value fits in 32 bits, the step across 2^32 is
/// less than half of that range and the rate is within the limits. Otherwise the counter was reset, and the rate is
/// unknown.
[[nodiscard]] std::optional<double> counter_rate(std::uint64_t before, std::uint64_t now, double seconds,
                                                 RateLimits limits) noexcept;

}  // namespace telegate::host
