#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace telegate {

/// Returns the name that `text` was most likely meant to be: the nearest one by insertions, deletions, replacements and
/// swapped neighbors, ignoring case. Returns "" if none is close, that is, if more than a third of the text would
/// change.
/// Limits: a text over name_bytes_max is never close; the work per name is bounded by the square of name_bytes_max.
[[nodiscard]] std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

inline constexpr std::size_t name_bytes_max = 64;

}  // namespace telegate
