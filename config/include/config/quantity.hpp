#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {

/// The units that may stand behind a number whose own unit is `unit`, as text: "us, ms, s, min, h, d"; "" when there
/// are none but that.
[[nodiscard]] std::string_view unit_choices(std::string_view unit) noexcept;

/// The number that `text` stands for, in `unit`: "250", "250ms", "1.5 s", "1m30s", "64KiB". A number by itself is in
/// `unit` already. Conversions are exact; else, and when it is no such number, what is wrong with it.
/// A number outside of 64 bits is the nearest one inside, which no range allows.
[[nodiscard]] std::variant<std::int64_t, std::string> parse_quantity(std::string_view text, std::string_view unit);

}  // namespace telegate
