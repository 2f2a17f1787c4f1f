#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::log_tool {

/// Times from `since_ns` to before `until_ns`, in nanoseconds since 1970 UTC.
struct TimeRange {
    std::int64_t since_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool contains(std::int64_t utc_ns) const noexcept { return utc_ns >= since_ns && utc_ns < until_ns; }
    [[nodiscard]] bool has_since() const noexcept { return since_ns != std::numeric_limits<std::int64_t>::min(); }
    [[nodiscard]] bool has_until() const noexcept { return until_ns != std::numeric_limits<std::int64_t>::max(); }
};

/// Parses an age such as "2h", counted back from `now_ns`, or a time as in RFC 3339 with up to nine decimals. Returns
/// nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> parse_age_or_time(std::string_view text, std::int64_t now_ns);

/// Returns the start of an epoch in nanoseconds, or the nearest time that can be expressed so.
[[nodiscard]] std::int64_t epoch_start_ns(std::int64_t epoch_ms) noexcept;

/// Decimals of seconds in human-readable and in machine-readable texts.
inline constexpr unsigned short_decimals = 3;
inline constexpr unsigned all_decimals = 9;
/// Returns the time in RFC 3339 with this number of decimals.
[[nodiscard]] std::string time_text(std::int64_t utc_ns, unsigned decimals);

}  // namespace telegate::log_tool
