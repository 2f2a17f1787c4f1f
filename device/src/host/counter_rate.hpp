#pragma once

#include <cstdint>
#include <optional>

namespace telegate::host {

/// How fast a counter can possibly move. A step beyond it is no movement but a counter that began anew.
struct RateLimits {
    double per_second_max;
    double wrapped_per_second_max;  // for steps across 2^32: only old or slow hardware still counts in 32 bits
};

/// The mean rate per second between two readings of a counter, `seconds` apart.
///
/// A lower value is a 32-bit counter that ran over if the earlier value fitted 32 bits, the step across 2^32 is under
/// half of that range and the rate stays within the limits. Otherwise the counter was reset, and the rate is unknown.
[[nodiscard]] std::optional<double> counter_rate(std::uint64_t before, std::uint64_t now, double seconds,
                                                 RateLimits limits) noexcept;

}  // namespace telegate::host
