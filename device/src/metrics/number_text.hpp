#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

/// Functions that parse external numbers without copies, allocations or a locale.
namespace telegate::metrics {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Removes `c` from the front of `text` if it is there. Returns whether it was.
[[nodiscard]] constexpr bool take_character(std::string_view& text, char c) noexcept {
    if (!text.starts_with(c)) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// Converts all of `text` to a finite decimal number: 1, -1.5, .5, +2e-3; not inf, nan or 0x1p3, and no number outside
/// the range of a double.
[[nodiscard]] inline std::optional<double> to_real(std::string_view text) noexcept {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) {
            return std::nullopt;
        }
    }
    const std::string_view unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
    const std::string_view first_digit = unsigned_text.substr(unsigned_text.starts_with('.') ? 1 : 0);
    if (first_digit.empty() || !is_digit(first_digit.front())) {
        return std::nullopt;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
        return std::nullopt;
    }
    return number;
}

}  // namespace telegate::metrics
