#pragma once

#include <algorithm>

namespace telegate::test {

/// How often a test repeats itself with other input: `all` times, or a tenth of that in a sanitizer
/// build, where each round takes ten times as long or more.
template <class Count>
constexpr Count rounds(Count all) {
    return std::max<Count>(all / TELEGATE_ROUNDS_DIVISOR, 1);
}

}  // namespace telegate::test
