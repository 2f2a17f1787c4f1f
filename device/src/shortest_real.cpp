#include "shortest_real.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace telegate {

double shortest_real(float value) noexcept {
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
