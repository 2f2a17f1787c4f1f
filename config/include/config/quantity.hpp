#pragma once

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

}  // namespace telegate
