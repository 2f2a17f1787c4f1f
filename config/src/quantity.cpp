#include "config/quantity.hpp"

#include "problem_list.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

namespace telegate {
namespace {

constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t number_min = std::numeric_limits<std::int64_t>::min();

struct Unit {
    std::string_view name;
    std::int64_t size;  // in the smallest unit of its kind
};

constexpr std::array times{
    Unit{"us", 1},           Unit{"ms", 1'000},          Unit{"s", 1'000'000},        Unit{"m", 60'000'000},
    Unit{"min", 60'000'000}, Unit{"h", 3'600'000'000LL}, Unit{"d", 86'400'000'000LL},
};
constexpr std::array sizes{
    Unit{"bytes", 1},      Unit{"B", 1},
    Unit{"kB", 1'000},     Unit{"KB", 1'000},
    Unit{"MB", 1'000'000}, Unit{"GB", 1'000'000'000},
    Unit{"K", 1LL << 10U}, Unit{"KiB", 1LL << 10U},
    Unit{"M", 1LL << 20U}, Unit{"MiB", 1LL << 20U},
    Unit{"G", 1LL << 30U}, Unit{"GiB", 1LL << 30U},
};

const Unit* find(std::span<const Unit> units, std::string_view name) noexcept {
    const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
    return found == units.end() ? nullptr : &*found;
}

/// Returns the units of the same kind as `unit`; empty if there are no others.
std::span<const Unit> relatives(std::string_view unit) noexcept {
    if (find(times, unit) != nullptr) {
        return times;
    }
    return find(sizes, unit) != nullptr ? std::span<const Unit>(sizes) : std::span<const Unit>();
}

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Removes and returns the characters that fit from the front of `text`.
template <class Fits>
std::string_view take(std::string_view& text, Fits fits) noexcept {
    const auto size = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), fits) - text.begin());
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(size);
    return taken;
}

/// One number with its unit, such as "1.5 s".
struct Part {
    std::string digits;        // of the number, without the decimal point
    std::int64_t divisor = 1;  // power of ten for the digits after the point
    std::string_view unit;
};

std::optional<Part> take_part(std::string_view& text) {
    Part part{.digits = std::string(take(text, is_digit)), .unit = {}};
    if (part.digits.empty()) {
        return std::nullopt;
    }
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const std::string_view fraction = take(text, is_digit);
        if (fraction.empty() || fraction.size() > 9) {
            return std::nullopt;
        }
        part.digits += fraction;
        for (std::size_t i = 0; i < fraction.size(); ++i) {
            part.divisor *= 10;
        }
    }
    take(text, [](char c) { return c == ' '; });
    part.unit = take(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    take(text, [](char c) { return c == ' '; });
    return part;
}

/// Converts `part` to units of `own_size`. Returns nullopt if the result is not a whole number, and number_max if it is
/// too large.
std::optional<std::int64_t> convert(const Part& part, std::int64_t unit_size, std::int64_t own_size) {
    std::int64_t number = 0;
    const char* const end = part.digits.data() + part.digits.size();
    if (std::from_chars(part.digits.data(), end, number).ec != std::errc{}) {
        return number_max;
    }
    // Both are far below the square root of the 64-bit maximum.
    const std::int64_t shared = std::gcd(unit_size, own_size);
    const std::int64_t divisor = part.divisor * (own_size / shared);
    const std::int64_t reduced = std::gcd(unit_size / shared, divisor);
    if (number % (divisor / reduced) != 0) {
        return std::nullopt;
    }
    std::int64_t result = 0;
    const bool too_large = __builtin_mul_overflow(number / (divisor / reduced), unit_size / shared / reduced, &result);
    return too_large ? number_max : result;
}

std::variant<std::int64_t, std::string> plain_number(std::string_view text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::invalid_argument || rest != end) {
        return "not a whole number: " + quoted_value(text);
    }
    if (error == std::errc::result_out_of_range) {
        return text.starts_with('-') ? number_min : number_max;
    }
    return number;
}

std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? number_max : result;
}

}  // namespace

std::string_view unit_choices(std::string_view unit) noexcept {
    const std::span<const Unit> units = relatives(unit);
    if (units.empty()) {
        return "";
    }
    return units.data() == times.data() ? "us, ms, s, min, h, d" : "B, kB, MB, GB, KiB, MiB, GiB";
}

std::variant<std::int64_t, std::string> parse_quantity(std::string_view text, std::string_view unit) {
    const std::span<const Unit> units = relatives(unit);
    const Unit* const own = find(units, unit);
    const bool is_plain = text.find_first_not_of("-0123456789") == std::string_view::npos;
    if (own == nullptr || is_plain) {
        return plain_number(text);
    }
    std::int64_t total = 0;
    std::vector<std::int64_t> sizes_used;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::optional<Part> part = take_part(rest);
        const bool is_number = part && (!part->unit.empty() || (part->divisor > 1 && rest.empty() && total == 0));
        if (!is_number) {
            return "not a whole number: " + quoted_value(text);
        }
        const Unit* const given = part->unit.empty() ? own : find(units, part->unit);
        if (given == nullptr) {
            return (rest.empty() ? "unknown unit " + quoted_value(part->unit) + ": " : "not a whole number: ") +
                   quoted_value(text);
        }
        if (std::find(sizes_used.begin(), sizes_used.end(), given->size) != sizes_used.end()) {
            return "repeated unit " + quoted_value(given->name) + ": " + quoted_value(text);
        }
        sizes_used.push_back(given->size);
        const std::optional<std::int64_t> amount = convert(*part, given->size, own->size);
        if (!amount) {
            return "not a whole number of " + std::string(unit) + ": " + quoted_value(text);
        }
        total = sum(total, *amount);
    }
    return total;
}

}  // namespace telegate
