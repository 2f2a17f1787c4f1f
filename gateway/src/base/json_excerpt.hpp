#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace telegate {

// Excerpts of untrusted JSON for messages, shortened and safe for a terminal. Threads: any.

/// Returns the name of a member for a message.
[[nodiscard]] std::string json_name_excerpt(std::string_view name);
/// Returns the name of a member as a reference token of a JSON pointer, with its slash.
[[nodiscard]] std::string json_pointer_part(std::string_view name);
/// Returns a value for a message.
[[nodiscard]] std::string json_excerpt(const nlohmann::ordered_json& value);

/// Returns the text as a JSON string, with quotes.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace telegate
