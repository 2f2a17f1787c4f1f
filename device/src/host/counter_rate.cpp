#include "host/counter_rate.hpp"

namespace telegate::host {
namespace {

constexpr std::uint64_t range_32_bits = std::uint64_t{1} << 32;

}  // namespace

std::optional<double> counter_rate(std::uint64_t before, std::uint64_t now, double seconds,
                                   RateLimits limits) noexcept {
    if (!(seconds > 0.0)) {
        return std::nullopt;
    }
    std::uint64_t step = now - before;
    double per_second_max = limits.per_second_max;
    if (now < before) {
        step = (now + range_32_bits) - before;
        per_second_max = limits.wrapped_per_second_max;
        if (before >= range_32_bits || step >= range_32_bits / 2) {
            return std::nullopt;
        }
    }
    const double per_second = static_cast<double>(step) / seconds;
    return per_second <= per_second_max ? std::optional(per_second) : std::nullopt;
}

}  // namespace telegate::host
