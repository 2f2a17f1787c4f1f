#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace telegate {

/// The values allowed for `revert_after`, in words.
inline constexpr std::string_view revert_allowed = "1s to 24h, such as 90s, 10m or 1h30m";

/// Parses the time after which a change is reverted; nullopt if it is invalid or has no unit. Threads: any.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_revert_after(std::string_view text);

}  // namespace telegate
