#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate {

/// Whether `text` may stand on one side of the slash in a topic: 1 to 64 of [a-z0-9_.-].
[[nodiscard]] bool is_topic_part(std::string_view text) noexcept;

/// The nearest valid topic part: lower case, other characters become '_', at most 64 bytes, "_" for empty text.
[[nodiscard]] std::string to_topic_part(std::string_view text);

inline constexpr std::size_t topic_part_bytes_max = 64;

}  // namespace telegate
