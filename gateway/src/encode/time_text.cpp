#include "encode/time_text.hpp"

#include "core/assert.hpp"
#include "encode/digits.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>

namespace telegate {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::size_t second_bytes = 20;  // 2026-11-20T23:11:34.

/// Parses `count` digits at position `at` of `text`.
std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t count) noexcept {
    int value = 0;
    for (const char c : text.substr(at, count)) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        value = value * 10 + (c - '0');
    }
    return value;
}

}  // namespace

TimeText::TimeText(std::string_view before, std::string_view after) noexcept
    : before_bytes_(before.size()), size_(before.size() + time_bytes + after.size()) {
    TELEGATE_ASSERT(size_ <= copied_bytes);
    char* const time = std::copy(before.begin(), before.end(), text_.data());
    std::copy(after.begin(), after.end(), time + time_bytes);
    time[time_bytes - 1] = 'Z';
    render_second(0);
    render(0);
}

void TimeText::render(std::int64_t utc_ns) noexcept {
    time_ns_ = utc_ns;
    std::int64_t second = utc_ns / second_ns;
    auto rest = static_cast<std::int32_t>(utc_ns % second_ns);
    if (rest < 0) {  // before 1970
        --second;
        rest += static_cast<std::int32_t>(second_ns);
    }
    if (second != second_) {
        render_second(second);
    }
    const auto fraction = static_cast<std::uint32_t>(rest);  // nine digits
    const std::uint32_t high = fraction / 10'000;
    const std::uint32_t low = fraction % 10'000;
    char* out = text_.data() + before_bytes_ + second_bytes;
    *out++ = static_cast<char>('0' + high / 10'000);
    out = put_two_digits(out, high / 100 % 100);
    out = put_two_digits(out, high % 100);
    out = put_two_digits(out, low / 100);
    put_two_digits(out, low % 100);
}

void TimeText::render_second(std::int64_t second) noexcept {
    using namespace std::chrono;
    second_ = second;
    const sys_seconds time{seconds(second)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
    char* out = text_.data() + before_bytes_;
    out = put_two_digits(out, year / 100);
    out = put_two_digits(out, year % 100);
    *out++ = '-';
    out = put_two_digits(out, static_cast<unsigned>(date.month()));
    *out++ = '-';
    out = put_two_digits(out, static_cast<unsigned>(date.day()));
    *out++ = 'T';
    out = put_two_digits(out, static_cast<unsigned>(clock.hours().count()));
    *out++ = ':';
    out = put_two_digits(out, static_cast<unsigned>(clock.minutes().count()));
    *out++ = ':';
    out = put_two_digits(out, static_cast<unsigned>(clock.seconds().count()));
    *out = '.';
}

double to_seconds(std::chrono::nanoseconds duration) noexcept {
    return std::chrono::duration<double>(duration).count();
}

std::string to_iso8601(std::int64_t time_utc_ns) {
    using namespace std::chrono;
    const sys_time<nanoseconds> time{nanoseconds(time_utc_ns)};
    const auto whole = floor<seconds>(time);
    const std::time_t whole_s = whole.time_since_epoch().count();
    std::tm parts{};
    ::gmtime_r(&whole_s, &parts);
    std::array<char, 32> date{};
    const std::size_t date_bytes = std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::array<char, 16> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%09dZ", static_cast<int>((time - whole).count()));
    return std::string(date.data(), date_bytes) + fraction.data();
}

std::optional<std::string> time_or_null(std::int64_t time_utc_ns) {
    return time_utc_ns == 0 ? std::nullopt : std::optional(to_iso8601(time_utc_ns));
}

std::optional<std::int64_t> parse_iso8601(std::string_view text) noexcept {
    constexpr std::string_view shape = "0000-00-00T00:00:00";
    if (text.size() <= shape.size() || text.back() != 'Z') {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] != '0' && text[i] != shape[i]) {
            return std::nullopt;
        }
    }
    const auto year = digits_at(text, 0, 4);
    const auto month = digits_at(text, 5, 2);
    const auto day = digits_at(text, 8, 2);
    const auto hour = digits_at(text, 11, 2);
    const auto minute = digits_at(text, 14, 2);
    const auto second = digits_at(text, 17, 2);
    std::string_view decimals = text.substr(shape.size(), text.size() - shape.size() - 1);
    if (!decimals.empty()) {
        if (decimals.front() != '.' || decimals.size() < 2 || decimals.size() > 10) {
            return std::nullopt;
        }
        decimals.remove_prefix(1);
    }
    auto fraction = digits_at(decimals, 0, decimals.size());
    if (!year || !month || !day || !hour || !minute || !second || !fraction) {
        return std::nullopt;
    }
    for (std::size_t i = decimals.size(); i < 9; ++i) {
        *fraction *= 10;
    }
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                              std::chrono::day(static_cast<unsigned>(*day))};
    // The years that 64-bit nanoseconds can represent.
    if (!date.ok() || *year < 1678 || *year > 2261 || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    const auto time = sys_days(date) + hours(*hour) + minutes(*minute) + seconds(*second);
    return duration_cast<nanoseconds>(time.time_since_epoch()).count() + *fraction;
}

}  // namespace telegate
