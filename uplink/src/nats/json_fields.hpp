#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

// Reads single members of the JSON that a NATS server sends, which has no member of these names in an inner object
// before the outer one. Input may be hostile: at worst, a value is not found or belongs to another member. Threads:
// any. Limits: none. Failure: json_text() throws std::bad_alloc.

/// Returns what follows `"key":`, or an empty text if there is no such member.
[[nodiscard]] std::string_view json_value(std::string_view json, std::string_view key) noexcept;
[[nodiscard]] bool json_is_true(std::string_view json, std::string_view key) noexcept;
[[nodiscard]] std::optional<std::uint64_t> json_whole(std::string_view json, std::string_view key) noexcept;
/// Returns a text with its escapes; "" if there is none.
[[nodiscard]] std::string json_text(std::string_view json, std::string_view key);

/// Appends `text` in quotes.
void append_json_text(std::string_view text, std::string& out);

}  // namespace telegate::uplink
