#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

namespace telegate {

/// Returns the units that a number may have if its setting has the unit `unit`: "us, ms, s, min, h, d"; "" if no other
/// unit is possible.
[[nodiscard]] std::string_view unit_choices(std::string_view unit) noexcept;

/// Returns `text` as a number in `unit`: "250", "250ms", "1.5 s", "1m30s", "64KiB". A number without a unit is in
/// `unit`. Conversions are exact. If the text is not such a number, returns what is wrong with it. A number that does
/// not fit in 64 bits becomes the nearest one that does, which is outside of every allowed range.
[[nodiscard]] std::variant<std::int64_t, std::string> parse_quantity(std::string_view text, std::string_view unit);

/// Parses the whole text as a number without a unit. Returns nullopt if it is not a number or does not fit in the type.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// Returns the shortest text that is read as the same number.
template <class Number>
[[nodiscard]] std::string number_text(Number value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace telegate
