#include "metrics/given_time.hpp"

#include "metrics/number_text.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace telegate::metrics {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t earliest_ns = 946'684'800 * second_ns;  // 2000-01-01
constexpr std::int64_t ahead_max_ns = 86'400 * second_ns;

struct Unit {
    double count_min;  // the smallest magnitude that is assumed to be in this unit
    std::int64_t ns;
};
// In seconds, the years 2000 to 2286 are 9.5e8 to 1e10; in milliseconds, 1e10 is 1970-04-26.
constexpr std::array<Unit, 4> units{{{1e17, 1}, {1e14, 1'000}, {1e11, 1'000'000}, {0, second_ns}}};

std::int64_t unit_ns(double count, TimePrecision precision) noexcept {
    switch (precision) {
        case TimePrecision::ns: return 1;
        case TimePrecision::us: return 1'000;
        case TimePrecision::ms: return 1'000'000;
        case TimePrecision::s: return second_ns;
        case TimePrecision::by_size: break;
    }
    for (const Unit& unit : units) {
        if (std::abs(count) >= unit.count_min) {
            return unit.ns;
        }
    }
    return second_ns;
}

/// Takes a number with exactly `count` digits from the front; returns -1 if there is none.
int take_digits(std::string_view& text, std::size_t count) noexcept {
    if (text.size() < count) {
        return -1;
    }
    int number = 0;
    for (std::size_t at = 0; at < count; ++at) {
        if (!is_digit(text[at])) {
            return -1;
        }
        number = number * 10 + (text[at] - '0');
    }
    text.remove_prefix(count);
    return number;
}

/// Takes the digits after the decimal point as nanoseconds; digits after the ninth are ignored.
std::int64_t take_fraction(std::string_view& text) noexcept {
    std::int64_t ns = 0;
    for (std::int64_t weight = second_ns / 10; !text.empty() && is_digit(text.front()); weight /= 10) {
        ns += (text.front() - '0') * weight;
        text.remove_prefix(1);
    }
    return ns;
}

/// Takes two digits up to `max` from the front; returns -1 if there are none.
int take_part(std::string_view& text, int max) noexcept {
    const int number = take_digits(text, 2);
    return number > max ? -1 : number;
}

/// A time of day as hh[:mm[:ss[.fraction]]] or hh[mm[ss[.fraction]]].
struct TimeOfDay {
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    std::int64_t fraction_ns = 0;
};

/// Returns whether a further part follows, and takes the colon before it.
bool take_next_part(std::string_view& text) noexcept {
    return take_character(text, ':') || (!text.empty() && is_digit(text.front()));
}

std::optional<TimeOfDay> take_time_of_day(std::string_view& text, int seconds_max) noexcept {
    TimeOfDay time;
    time.hours = take_part(text, 24);
    const bool has_minutes = take_next_part(text);
    time.minutes = has_minutes ? take_part(text, 59) : 0;
    const bool has_seconds = has_minutes && take_next_part(text);
    time.seconds = has_seconds ? take_part(text, seconds_max) : 0;
    if (time.hours < 0 || time.minutes < 0 || time.seconds < 0) {
        return std::nullopt;
    }
    if (has_seconds && (take_character(text, '.') || take_character(text, ','))) {
        if (text.empty() || !is_digit(text.front())) {
            return std::nullopt;
        }
        time.fraction_ns = take_fraction(text);
    }
    const bool is_midnight = time.minutes == 0 && time.seconds == 0 && time.fraction_ns == 0;
    return time.hours < 24 || is_midnight ? std::optional(time) : std::nullopt;
}

int seconds_of(const TimeOfDay& time) noexcept {
    return (time.hours * 60 + time.minutes) * 60 + time.seconds;
}

/// Returns the offset at the end of a time, in seconds east of UTC.
std::optional<int> to_offset_s(std::string_view text) noexcept {
    (void)take_character(text, ' ');
    if (text == "Z" || text == "z") {
        return 0;
    }
    constexpr std::string_view minus_sign = "\xE2\x88\x92";  // U+2212, which ISO 8601 prefers
    int sign = 1;
    if (text.starts_with(minus_sign)) {
        sign = -1;
        text.remove_prefix(minus_sign.size());
    } else if (take_character(text, '-')) {
        sign = -1;
    } else if (!take_character(text, '+')) {
        return std::nullopt;
    }
    const auto offset = take_time_of_day(text, 59);
    return offset && offset->hours < 24 && text.empty() ? std::optional(sign * seconds_of(*offset)) : std::nullopt;
}

/// Takes yyyy-mm-dd or yyyymmdd.
std::optional<std::int64_t> take_day_s(std::string_view& text) noexcept {
    const int year = take_digits(text, 4);
    const bool is_extended = take_character(text, '-');
    const int month = take_digits(text, 2);
    if (is_extended != take_character(text, '-')) {
        return std::nullopt;
    }
    const int day = take_digits(text, 2);
    if (year < 0 || month < 1 || day < 1) {
        return std::nullopt;
    }
    using namespace std::chrono;
    const year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day)));
    if (!date.ok()) {
        return std::nullopt;
    }
    return duration_cast<seconds>(sys_days(date).time_since_epoch()).count();
}

}  // namespace

bool is_likely_time(std::int64_t utc_ns, std::int64_t now_utc_ns) noexcept {
    return utc_ns >= earliest_ns && utc_ns - ahead_max_ns <= now_utc_ns;
}

std::optional<std::int64_t> to_utc_ns(std::int64_t count, TimePrecision precision) noexcept {
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(count, unit_ns(static_cast<double>(count), precision), &ns)) {
        return std::nullopt;
    }
    return ns;
}

std::optional<std::int64_t> to_utc_ns(double count, TimePrecision precision) noexcept {
    constexpr double beyond = 0x1p63;
    const double unit = static_cast<double>(unit_ns(count, precision));
    const double whole = std::trunc(count);
    if (!(std::abs(whole) * unit < beyond)) {
        return std::nullopt;
    }
    // Added separately, so the whole part keeps all of its digits.
    std::int64_t ns = 0;
    if (__builtin_add_overflow(static_cast<std::int64_t>(whole) * static_cast<std::int64_t>(unit),
                               static_cast<std::int64_t>((count - whole) * unit), &ns)) {
        return std::nullopt;
    }
    return ns;
}

std::optional<std::int64_t> parse_iso_time(std::string_view text) noexcept {
    const auto day_s = take_day_s(text);
    if (!day_s || !(take_character(text, 'T') || take_character(text, 't') || take_character(text, ' '))) {
        return std::nullopt;
    }
    constexpr int leap_second = 60;
    const auto time = take_time_of_day(text, leap_second);
    if (!time) {
        return std::nullopt;
    }
    const auto offset_s = to_offset_s(text);
    if (!offset_s) {
        return std::nullopt;
    }
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(*day_s + seconds_of(*time) - *offset_s, second_ns, &ns) ||
        __builtin_add_overflow(ns, time->fraction_ns, &ns)) {
        return std::nullopt;
    }
    return ns;
}

}  // namespace telegate::metrics
