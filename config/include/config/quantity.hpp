#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {

/// Returns the units that a number may have if its setting has the unit `unit`: "us, ms, s, min, h, d"; "" if no other
/// unit is possible.
[[nodiscard]] std::string_view unit_choices(std::string_view unit) noexcept;

/// Returns `text` as a number in `unit`: "250", "250ms", "1.5 s", "1m30s", "64KiB". A number without a unit is in
/// `unit`. Conversions are exact. If the text is not such a number, returns what is wrong with it. A number that does
/// not fit in 64 bits becomes the nearest one that does, which is outside of every allowed range.
[[nodiscard]] std::variant<std::int64_t, std::string> parse_quantity(std::string_view text, std::string_view unit);

/// Returns the shortest text that is read as the same number.
template <class Number>
[[nodiscard]] std::string number_text(Number value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace telegate
