#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate::tail {

/// "2026-11-20T23:11:34.123456789Z", as samples have it: UTC, always nine decimals. False for anything else.
[[nodiscard]] bool parse_sample_time(std::string_view text, std::int64_t& time_utc_ns) noexcept;
/// The same from a person: with any number of decimals up to nine, or none.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);
/// The first and the last that both take, as --help, gateway_tail(1) and refusals have them.
inline constexpr std::string_view time_first = "1678-01-01T00:00:00Z";
inline constexpr std::string_view time_last = "2261-12-31T23:59:59.999999999Z";
/// Whether a text that parse_time() refuses is a time of a year before or after these.
[[nodiscard]] bool is_year_out_of_range(std::string_view text);
/// As in samples, with so many decimals of the second: 0 to 9.
void append_time(std::string& out, std::int64_t time_utc_ns, unsigned decimals);

/// "10m", "1500ms", "1.5h": a number with one of ms, s, m, h, d. Nullopt for anything else, and for over 10,000 days.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "1,204".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "1 sample", "1,204 samples".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace telegate::tail
