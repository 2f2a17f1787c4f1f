#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace telegate {

/// "00" to "99" in one string, to convert two decimal digits with one division.
inline constexpr std::array<char, 200> two_digits = [] {
    std::array<char, 200> pairs{};
    for (std::size_t value = 0; value < 100; ++value) {
        pairs[2 * value] = static_cast<char>('0' + value / 10);
        pairs[2 * value + 1] = static_cast<char>('0' + value % 10);
    }
    return pairs;
}();

/// `value` is less than 100.
inline char* put_two_digits(char* out, unsigned value) noexcept {
    std::memcpy(out, two_digits.data() + std::size_t{2} * value, 2);
    return out + 2;
}

inline constexpr std::size_t whole_bytes_max = 20;

/// Writes the same text as std::to_chars(), up to whole_bytes_max bytes. std::to_chars() is a template, of which the
/// linker keeps one copy per program, possibly from a translation unit that is optimized for size.
inline char* put_whole(char* out, std::uint64_t value) noexcept {
    std::array<char, whole_bytes_max> digits;  // filled from its end
    std::size_t at = digits.size();
    for (; value >= 100; value /= 100) {
        at -= 2;
        put_two_digits(digits.data() + at, static_cast<unsigned>(value % 100));
    }
    if (value < 10) {
        digits[--at] = static_cast<char>('0' + value);
    } else {
        at -= 2;
        put_two_digits(digits.data() + at, static_cast<unsigned>(value));
    }
    std::memcpy(out, digits.data() + at, digits.size() - at);
    return out + (digits.size() - at);
}

}  // namespace telegate
