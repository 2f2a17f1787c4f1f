#pragma once

#include "device/metric_rules.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

/// Times that lines give, as nanoseconds since 1970 UTC.
namespace telegate::metrics {

/// Not before 2000 and at most a day ahead of `now_utc_ns`: anything else is a clock that was never set, or another
/// unit.
[[nodiscard]] bool is_likely_time(std::int64_t utc_ns, std::int64_t now_utc_ns) noexcept;

/// What so many of `precision` are; nullopt where that is beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> to_utc_ns(std::int64_t count, TimePrecision precision) noexcept;
/// The same for a number with a fraction, as exactly as a double has it.
[[nodiscard]] std::optional<std::int64_t> to_utc_ns(double count, TimePrecision precision) noexcept;

/// ISO 8601 (RFC 3339): 2026-11-20T23:11:34[.5]Z, or with an offset such as +02:00 in place of Z; a space may stand for
/// the T. nullopt for anything else, days and hours that do not exist among it.
[[nodiscard]] std::optional<std::int64_t> parse_iso_time(std::string_view text) noexcept;

}  // namespace telegate::metrics
