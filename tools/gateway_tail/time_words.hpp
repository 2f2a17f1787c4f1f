#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Parses "2026-11-20T23:11:34.123456789Z", the format of samples: UTC, always nine decimals. Returns false for
/// anything else.
[[nodiscard]] bool parse_sample_time(std::string_view text, std::int64_t& time_utc_ns) noexcept;
/// The first and last time that parse_sample_time() and parse_iso8601() accept, as shown in --help, gateway_tail(1) and
/// error messages.
inline constexpr std::string_view time_first = "1678-01-01T00:00:00Z";
inline constexpr std::string_view time_last = "2261-12-31T23:59:59.999999999Z";
/// Returns whether a text that parse_iso8601() rejects is a time before time_first or after time_last.
[[nodiscard]] bool is_year_out_of_range(std::string_view text);
/// Appends a time in the format of samples, with 1 to 9 decimals of the second.
void append_time(std::string& out, std::int64_t time_utc_ns, unsigned decimals);

/// Parses "10m", "1500ms", "1.5h": a number with one of ms, s, m, h, d. Returns nullopt for anything else, and for more
/// than 10,000 days.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Returns the number as "1,204".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// Returns "1 sample", "1,204 samples".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);
/// Returns "43..54", or "43" if both are equal.
[[nodiscard]] std::string range_text(std::uint64_t first, std::uint64_t last);

}  // namespace telegate::tail
