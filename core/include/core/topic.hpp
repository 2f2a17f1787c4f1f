#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// Returns whether `text` is a valid part of a topic, before or after the slash: 1 to 64 of [a-z0-9_.-], but not . or
/// .. alone.
[[nodiscard]] bool is_topic_part(std::string_view text) noexcept;

/// Returns the nearest valid topic part: lower case, other characters replaced by '_', at most 64 bytes, "_" for empty
/// text.
[[nodiscard]] std::string to_topic_part(std::string_view text);

inline constexpr std::size_t topic_part_bytes_max = 64;

}  // namespace telegate
