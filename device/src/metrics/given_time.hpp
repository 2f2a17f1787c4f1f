#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// The unit of a number that is a time.
enum class TimePrecision : std::uint8_t {
    by_size,  // detected from the magnitude: seconds and milliseconds of this century do not overlap
    ns,
    us,
    ms,
    s,
};

/// How lines that name their own metrics are read.
struct MetricRules {
    bool use_time = false;  // samples carry the time of their line if it has one, otherwise the time of arrival
    TimePrecision time_precision = TimePrecision::by_size;
    std::string time_member;  // JSON: the member of the outermost object that holds the time; "": none
    std::string name_member;  // JSON: the member whose text is prepended to each name; "": none
};

}  // namespace telegate

/// Times in lines, as nanoseconds since 1970 UTC.
namespace telegate::metrics {

/// Returns whether the time is not before 2000 and at most a day ahead of `now_utc_ns`. Otherwise the clock was never
/// set, or the unit is wrong.
[[nodiscard]] bool is_likely_time(std::int64_t utc_ns, std::int64_t now_utc_ns) noexcept;

/// Converts `count` units of `precision`; nullopt if the result exceeds 64 bits.
[[nodiscard]] std::optional<std::int64_t> to_utc_ns(std::int64_t count, TimePrecision precision) noexcept;
/// Converts a number with a fraction, within the precision of a double.
[[nodiscard]] std::optional<std::int64_t> to_utc_ns(double count, TimePrecision precision) noexcept;

/// Parses ISO 8601 in the forms that common programs write: 2026-11-20T23:11:34[.5]Z, with an offset such as +02:00,
/// +0200 or +02 instead of Z, a space instead of the T, a comma as the decimal sign, the basic form 20261120T231134Z,
/// without seconds, and 24:00 as the end of a day. Returns nullopt for other texts, such as times without an offset,
/// and for dates and times that do not exist.
[[nodiscard]] std::optional<std::int64_t> parse_iso_time(std::string_view text) noexcept;

}  // namespace telegate::metrics
