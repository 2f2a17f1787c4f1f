#include "metrics/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace telegate::metrics {
namespace {

bool starts_with_word(std::string_view text, std::string_view lower) noexcept {
    return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char c) {
               return c == want || (want >= 'a' && c == static_cast<char>(want - 'a' + 'A'));
           });
}

bool has_sign(std::string_view text) noexcept {
    return text.starts_with('+') || text.starts_with('-');
}

/// Returns whether a decimal number without a sign, which is out of the range of a double, is too small.
bool is_tiny(std::string_view text) noexcept {
    const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
    const std::string_view mantissa = text.substr(0, exponent_at);
    const std::size_t first = std::min(mantissa.find_first_not_of("0."), mantissa.size());
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    // The exponent of the first digit that is not 0, if the number were written without an exponent.
    const auto shift = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    std::string_view exponent = text.substr(std::min(exponent_at + 1, text.size()));
    const bool is_negative = exponent.starts_with('-');
    exponent.remove_prefix(has_sign(exponent) ? 1 : 0);
    std::int64_t ten = 0;
    const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), ten);
    if (read.ec == std::errc::result_out_of_range || ten > std::numeric_limits<std::int32_t>::max()) {
        return is_negative;
    }
    return shift + (is_negative ? -ten : ten) < 0;
}

std::optional<TextNumber> read_real(std::string_view text) noexcept {
    TextNumber number;
    const std::string_view plain = text.substr(text.starts_with('-') ? 1 : 0);
    const char* const end = text.data() + text.size();
    const auto real = std::from_chars(text.data(), end, number.real);
    if (real.ec == std::errc::invalid_argument || real.ptr != end) {
        return std::nullopt;
    }
    if (real.ec != std::errc{}) {
        number.real = 0;
        number.kind = is_tiny(plain) ? TextNumber::Kind::real : TextNumber::Kind::none;
    } else {
        const bool is_whole = digit_count(plain) == plain.size();
        number.kind = is_whole ? TextNumber::Kind::beyond : TextNumber::Kind::real;
    }
    return number;
}

}  // namespace

std::size_t digit_count(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

double TextNumber::as_real() const noexcept {
    switch (kind) {
        case Kind::whole: return static_cast<double>(whole);
        case Kind::real:
        case Kind::beyond: return real;
        case Kind::none: break;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

Quality TextNumber::real_quality() const noexcept {
    constexpr std::int64_t exact_max = std::int64_t{1} << std::numeric_limits<double>::digits;
    switch (kind) {
        case Kind::whole: {
            // A double represents a larger whole number if its last bits are 0.
            std::int64_t rest = whole;
            while ((rest > exact_max || rest < -exact_max) && rest % 2 == 0) {
                rest /= 2;
            }
            return rest > exact_max || rest < -exact_max ? Quality::uncertain : Quality::good;
        }
        case Kind::real: return Quality::good;
        case Kind::beyond: return Quality::uncertain;
        case Kind::none: break;
    }
    return Quality::bad;
}

std::size_t not_finite_bytes(std::string_view text) noexcept {
    const std::size_t sign = has_sign(text) ? 1 : 0;
    // Windows writes those with brackets and with #, and may add zeros to the latter.
    for (const std::string_view word :
         {"nan(ind)", "nan(snan)", "nan", "infinity", "inf", "1.#inf", "1.#ind", "1.#qnan", "1.#snan"}) {
        if (starts_with_word(text.substr(sign), word)) {
            const std::size_t bytes = sign + word.size();
            return word.front() != '1' ? bytes : std::min(text.find_first_not_of('0', bytes), text.size());
        }
    }
    return 0;
}

std::optional<TextNumber> parse_number(std::string_view text) noexcept {
    if (!text.empty() && not_finite_bytes(text) == text.size()) {
        return TextNumber{};
    }
    if (text.starts_with('+')) {  // from_chars does not accept '+'
        text.remove_prefix(1);
        if (has_sign(text)) {
            return std::nullopt;
        }
    }
    const std::string_view plain = text.substr(text.starts_with('-') ? 1 : 0);
    const std::string_view first_digit = plain.substr(plain.starts_with('.') ? 1 : 0);
    if (first_digit.empty() || !is_digit(first_digit.front())) {
        return std::nullopt;
    }
    TextNumber number;
    const char* const end = text.data() + text.size();
    const auto whole = std::from_chars(text.data(), end, number.whole);
    if (whole.ec == std::errc{} && whole.ptr == end) {
        number.kind = TextNumber::Kind::whole;
        return number;
    }
    return read_real(text);
}

}  // namespace telegate::metrics
