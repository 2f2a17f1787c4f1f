#pragma once

namespace telegate::test {

/// How often a test on one thread repeats itself with other input: `all` times, or a tenth of that in a sanitizer
/// build, where each round takes ten times as long or more.
template <class Count>
constexpr Count rounds(Count all) {
    return all / TELEGATE_ROUNDS_DIVISOR;
}

}  // namespace telegate::test
