#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace telegate {

/// What `revert_after` may be, in words.
inline constexpr std::string_view revert_allowed = "1s to 24h, such as 90s, 10m or 1h30m";

/// The time after which a change is undone; nullopt when the text is not one. A number without a unit is not. Threads:
/// any.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_revert_after(std::string_view text);

}  // namespace telegate
