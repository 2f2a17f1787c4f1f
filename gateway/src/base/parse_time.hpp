#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate {

/// Parses a time such as "2026-11-20T23:11:34.123456789Z", with up to nine decimals, as ns since 1970 UTC.
[[nodiscard]] std::optional<std::int64_t> parse_iso8601(std::string_view text) noexcept;

}  // namespace telegate
