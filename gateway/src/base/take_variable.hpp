#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// The value of an environment variable that is meant for this process alone: it is no longer there for children.
/// "" when there is none. Threads: the main thread, before others start.
[[nodiscard]] std::string take_variable(const char* name);

/// A whole number in decimal digits, and nothing else.
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text);

}  // namespace telegate
