#pragma once

#include <algorithm>

namespace telegate::test {

/// Returns the number of rounds of a long test: `all`, or a tenth in sanitizer builds, where each round takes at least
/// ten times as long.
template <class Count>
constexpr Count rounds(Count all) {
    return std::max<Count>(all / TELEGATE_ROUNDS_DIVISOR, 1);
}

}  // namespace telegate::test
