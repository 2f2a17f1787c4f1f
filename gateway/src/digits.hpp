#pragma once

#include <array>
#include <cstddef>
#include <cstring>

namespace telegate {

/// "00" to "99", one behind the other: two decimal digits cost one division.
inline constexpr std::array<char, 200> two_digits = [] {
    std::array<char, 200> pairs{};
    for (std::size_t value = 0; value < 100; ++value) {
        pairs[2 * value] = static_cast<char>('0' + value / 10);
        pairs[2 * value + 1] = static_cast<char>('0' + value % 10);
    }
    return pairs;
}();

/// `value` is below 100.
inline char* put_two_digits(char* out, unsigned value) noexcept {
    std::memcpy(out, two_digits.data() + std::size_t{2} * value, 2);
    return out + 2;
}

}  // namespace telegate
