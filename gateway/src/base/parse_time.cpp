#include "base/parse_time.hpp"

#include <chrono>
#include <cstddef>

namespace telegate {
namespace {

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
