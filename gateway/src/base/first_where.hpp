#pragma once

#include <cstdint>

namespace telegate {

/// The first index in [low, high) for which `holds` is true and after which it is true for all; `high` if there is
/// none.
template <class Holds>
[[nodiscard]] std::uint64_t first_where(std::uint64_t low, std::uint64_t high, const Holds& holds) {
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (holds(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

inline constexpr std::uint64_t first_where_checks_max = 1'024;

/// The same where `holds` may be true, false and true again: checks up to first_where_checks_max indexes, spread over
/// the range, and then searches between the first one found and the one checked before it.
template <class Holds>
[[nodiscard]] std::uint64_t first_where_unsorted(std::uint64_t low, std::uint64_t high, const Holds& holds) {
    if (low >= high) {
        return high;
    }
    const std::uint64_t step = (high - low) / first_where_checks_max + 1;
    for (std::uint64_t check = low; check < high; check += step) {
        if (holds(check)) {
            return first_where(low, check, holds);
        }
        low = check + 1;
    }
    return first_where(low, high, holds);
}

}  // namespace telegate
