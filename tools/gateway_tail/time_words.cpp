#include "time_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <system_error>
#include <utility>

namespace telegate::tail {
namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::string_view example = "2026-11-20T23:11:34.123456789Z";
constexpr std::size_t fraction_at = 20;  // position in the example
constexpr std::size_t year_digits = 4;
// Nanoseconds in 64 bits reach slightly further; the services of a gateway also accept whole years only.
constexpr unsigned year_first = 1678;
constexpr unsigned year_last = 2261;

bool read_digits(std::string_view text, unsigned& value) noexcept {
    value = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') {
            return false;
        }
        value = value * 10 + static_cast<unsigned>(digit - '0');
    }
    return true;
}

bool read_second(std::string_view text, std::int64_t& second) noexcept {
    unsigned year = 0;
    unsigned month = 0;
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned rest = 0;
    const bool reads = read_digits(text.substr(0, 4), year) && text[4] == '-' &&
                       read_digits(text.substr(5, 2), month) && text[7] == '-' && read_digits(text.substr(8, 2), day) &&
                       text[10] == 'T' && read_digits(text.substr(11, 2), hour) && text[13] == ':' &&
                       read_digits(text.substr(14, 2), minute) && text[16] == ':' &&
                       read_digits(text.substr(17, 2), rest);
    const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)), std::chrono::month(month),
                                           std::chrono::day(day));
    if (!reads || !date.ok() || year < year_first || year > year_last || hour > 23 || minute > 59 || rest > 60) {
        return false;
    }
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    second = ((days * 24 + hour) * 60 + minute) * 60 + rest;
    return true;
}

void append_padded(std::string& out, std::int64_t number, std::size_t digits) {
    const std::string text = std::to_string(number);
    out.append(digits > text.size() ? digits - text.size() : 0, '0').append(text);
}

}  // namespace

bool parse_sample_time(std::string_view text, std::int64_t& time_utc_ns) noexcept {
    std::int64_t second = 0;
    unsigned fraction = 0;
    if (text.size() != example.size() || text[fraction_at - 1] != '.' || text.back() != 'Z' ||
        !read_second(text, second) || !read_digits(text.substr(fraction_at, 9), fraction)) {
        return false;
    }
    time_utc_ns = second * ns_per_second + fraction;
    return true;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
    std::string whole(text);
    if (whole.size() == fraction_at && whole.back() == 'Z') {
        whole.insert(fraction_at - 1, ".000000000");
    } else if (whole.size() > fraction_at + 1 && whole.size() < example.size() && whole.back() == 'Z') {
        whole.insert(whole.size() - 1, example.size() - whole.size(), '0');
    }
    std::int64_t time_utc_ns = 0;
    return parse_sample_time(whole, time_utc_ns) ? std::optional(time_utc_ns) : std::nullopt;
}

bool is_year_out_of_range(std::string_view text) {
    constexpr std::string_view leap_year = "2000";
    unsigned year = 0;
    return text.size() > year_digits && read_digits(text.substr(0, year_digits), year) &&
           (year < year_first || year > year_last) &&
           parse_time(std::string(leap_year).append(text.substr(year_digits))).has_value();
}

void append_time(std::string& out, std::int64_t time_utc_ns, unsigned decimals) {
    const auto time = std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(time_utc_ns));
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    append_padded(out, static_cast<int>(date.year()), 4);
    out += '-';
    append_padded(out, static_cast<unsigned>(date.month()), 2);
    out += '-';
    append_padded(out, static_cast<unsigned>(date.day()), 2);
    out += 'T';
    append_padded(out, clock.hours().count(), 2);
    out += ':';
    append_padded(out, clock.minutes().count(), 2);
    out += ':';
    append_padded(out, clock.seconds().count(), 2);
    if (decimals > 0) {
        out += '.';
        append_padded(out, clock.subseconds().count(), 9);
        out.resize(out.size() - 9 + decimals);
    }
    out += 'Z';
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

}  // namespace telegate::tail
