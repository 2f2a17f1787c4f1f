#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

/// Reading numbers from outside without a copy, an allocation or a locale.
namespace telegate::metrics {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Removes `c` from the front of `text`, if it is there.
[[nodiscard]] constexpr bool take_character(std::string_view& text, char c) noexcept {
    if (!text.starts_with(c)) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// The whole number that all of `text` is; a sign of minus only.
template <class Whole>
[[nodiscard]] std::optional<Whole> to_whole(std::string_view text) noexcept {
    Whole number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

/// The finite decimal number that all of `text` is: 1, -1.5, .5, +2e-3; not inf, nan or 0x1p3, and none that is too
/// large or too near to zero for a double.
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
