#pragma once

#include <cstdint>

namespace telegate {

/// Returns the first index in [low, high) for which `holds` is true; `high` if there is none. `holds` must be true for
/// all indexes after that.
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

/// Like first_where(), for a `holds` that may change between true and false: checks up to first_where_checks_max
/// indexes spread over the range, then searches between the first match and the index checked before it.
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
