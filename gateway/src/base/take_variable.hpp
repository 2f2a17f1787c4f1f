#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// Returns an environment variable and removes it from the environment, so that children do not inherit it; "" if it is
/// not set. Threads: the main thread, before other threads start.
[[nodiscard]] std::string take_variable(const char* name);

/// Parses a whole number of only decimal digits.
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text);

}  // namespace telegate
