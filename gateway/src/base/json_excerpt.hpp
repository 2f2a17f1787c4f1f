#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace telegate {

// What is told of JSON from outside, cut and made harmless for a terminal. Threads: any.

/// A member's name as it is shown in problems.
[[nodiscard]] std::string json_name_excerpt(std::string_view name);
/// A member's name as a part of a JSON pointer, with its slash.
[[nodiscard]] std::string json_pointer_part(std::string_view name);
/// A value as it is shown in problems.
[[nodiscard]] std::string json_excerpt(const nlohmann::ordered_json& value);

/// A text as JSON, with its quotes.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace telegate
