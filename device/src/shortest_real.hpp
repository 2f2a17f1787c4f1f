#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace telegate {

/// Returns the double with the shortest decimal text that still converts to `value` as a 32-bit float: 11.6, where a
/// plain conversion gives 11.600000381469727. NaN and infinity are unchanged. Threads: any. Limits: no allocation.
/// Failure: none.
[[nodiscard]] inline double shortest_real(float value) noexcept {
    if (!std::isfinite(value)) {
        return double{value};
    }
    constexpr std::size_t bytes_max = 32;  // the longest text has 15
    std::array<char, bytes_max> text;
    const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    double real = 0.0;
    std::from_chars(text.data(), end, real);
    return real;
}

}  // namespace telegate
