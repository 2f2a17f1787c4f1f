#pragma once

#include "core/telemetry_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// Functions that parse external numbers without copies, allocations or a locale.
namespace telegate::metrics {

/// Returns `text` without a byte order mark at its start.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.substr(text.starts_with(mark) ? mark.size() : 0);
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Returns the number of digits at the start of `text`.
[[nodiscard]] std::size_t digit_count(std::string_view text) noexcept;

/// Removes `c` from the front of `text` if it is there. Returns whether it was.
[[nodiscard]] constexpr bool take_character(std::string_view& text, char c) noexcept {
    if (!text.starts_with(c)) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// A number as it is written in a text. A number that cannot be represented never has the quality good.
struct TextNumber {
    enum class Kind : std::uint8_t {
        whole,   // no fraction, no exponent, and in range of `whole`
        real,    // includes numbers that are too small for a double: 0
        beyond,  // a whole number beyond the range of `whole`, rounded: uncertain
        none,    // NaN, infinity, or too large for a double: no value, bad
    };
    Kind kind = Kind::none;
    std::int64_t whole = 0;
    double real = 0;

    /// Returns the number as a double; NaN if there is none.
    [[nodiscard]] double as_real() const noexcept;
    /// Returns the quality of as_real().
    [[nodiscard]] Quality real_quality() const noexcept;
};

/// Returns the length of nan, inf, infinity or what Windows writes for them, such as nan(ind) and 1.#INF, in any case
/// and with an optional sign, at the start of `text`; 0 for other texts.
[[nodiscard]] std::size_t not_finite_bytes(std::string_view text) noexcept;

/// Converts all of `text` to a number: 1, -1.5, .5, +2e-3, NaN, -Inf, Infinity (in any case); not 0x1p3. Returns
/// nullopt if it is not a number.
[[nodiscard]] std::optional<TextNumber> parse_number(std::string_view text) noexcept;

}  // namespace telegate::metrics
