#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace telegate {

/// The name that `text` was most likely meant to be: the nearest by insertions, deletions, replacements and swapped
/// neighbours, letter case ignored. "" when none is close, that is, when more than a third of it would change.
/// Limits: texts over name_bytes_max are never close; the work is bounded by its square per name.
[[nodiscard]] std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

inline constexpr std::size_t name_bytes_max = 64;

}  // namespace telegate
