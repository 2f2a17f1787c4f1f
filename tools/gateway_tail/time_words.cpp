#include "time_words.hpp"

#include "encode/time_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <system_error>
#include <utility>

namespace telegate::tail {

bool parse_sample_time(std::string_view text, std::int64_t& time_utc_ns) noexcept {
    constexpr std::string_view example = "2026-11-20T23:11:34.123456789Z";
    const auto time = text.size() == example.size() ? parse_iso8601(text) : std::nullopt;
    time_utc_ns = time.value_or(time_utc_ns);
    return time.has_value();
}

bool is_year_out_of_range(std::string_view text) {
    constexpr std::size_t digits = 4;
    constexpr std::string_view leap_year = "2000";
    const std::string_view year = text.substr(0, digits);
    return text.size() > digits && year.find_first_not_of("0123456789") == std::string_view::npos &&
           (year < time_first.substr(0, digits) || year > time_last.substr(0, digits)) &&
           parse_iso8601(std::string(leap_year).append(text.substr(digits))).has_value();
}

void append_time(std::string& out, std::int64_t time_utc_ns, unsigned decimals) {
    constexpr std::size_t second_bytes = 20;  // 2026-11-20T23:11:34.
    out.append(to_iso8601(time_utc_ns), 0, second_bytes + decimals) += 'Z';
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    constexpr double days_max = 10'000;
    constexpr std::pair<std::string_view, double> units[] = {
        {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    const auto* const found =
        std::find_if(std::begin(units), std::end(units), [unit](const auto& each) { return each.first == unit; });
    if (error != std::errc() || found == std::end(units) || !(number >= 0) ||
        number * found->second > days_max * 86'400'000) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(std::llround(number * found->second));
}

std::string grouped(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at > 0 && (digits.size() - at) % 3 == 0) {
            text += ',';
        }
        text += digits[at];
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
    std::string text = grouped(number) + ' ';
    return text.append(noun).append(number == 1 ? "" : "s");
}

std::string range_text(std::uint64_t first, std::uint64_t last) {
    return first == last ? std::to_string(first) : std::to_string(first) + ".." + std::to_string(last);
}

}  // namespace telegate::tail
