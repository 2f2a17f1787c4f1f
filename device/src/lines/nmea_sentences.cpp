#include "lines/nmea_sentences.hpp"

#include "core/text.hpp"
#include "lines/line_fields.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

namespace telegate::nmea {
namespace {

constexpr std::string_view degrees = "deg";
constexpr std::string_view speed = "m/s";
constexpr std::string_view meters = "m";
constexpr std::string_view plain = "1";
constexpr std::string_view none;

// clang-format off
constexpr std::array gga{
    FieldRule{"gga.time", none, Kind::time, 1},
    FieldRule{"gga.latitude", degrees, Kind::latitude, 2, true},
    FieldRule{"gga.longitude", degrees, Kind::longitude, 4, true},
    FieldRule{"gga.quality", plain, Kind::integer, 6},
    FieldRule{"gga.satellites", plain, Kind::integer, 7},
    FieldRule{"gga.hdop", plain, Kind::real, 8, true},
    FieldRule{"gga.altitude", meters, Kind::real, 9, true},
    FieldRule{"gga.geoid_separation", meters, Kind::real, 11, true},
};
constexpr std::array rmc{
    FieldRule{"rmc.time", none, Kind::time, 1},
    FieldRule{"rmc.valid", none, Kind::flag, 2},
    FieldRule{"rmc.latitude", degrees, Kind::latitude, 3, true},
    FieldRule{"rmc.longitude", degrees, Kind::longitude, 5, true},
    FieldRule{"rmc.speed", speed, Kind::knots, 7, true},
    FieldRule{"rmc.course", degrees, Kind::real, 8, true},
    FieldRule{"rmc.date", none, Kind::date, 9},
    FieldRule{"rmc.variation", degrees, Kind::east_or_west, 10, true},
};
constexpr std::array vtg{
    FieldRule{"vtg.course", degrees, Kind::real, 1},
    FieldRule{"vtg.course_magnetic", degrees, Kind::real, 3},
    FieldRule{"vtg.speed", speed, Kind::knots_or_kmh, 5},
};
constexpr std::array gll{
    FieldRule{"gll.latitude", degrees, Kind::latitude, 1, true},
    FieldRule{"gll.longitude", degrees, Kind::longitude, 3, true},
    FieldRule{"gll.time", none, Kind::time, 5},
    FieldRule{"gll.valid", none, Kind::flag, 6},
};
constexpr std::array gsa{
    FieldRule{"gsa.mode", none, Kind::text, 1},
    FieldRule{"gsa.fix", plain, Kind::integer, 2},
    FieldRule{"gsa.pdop", plain, Kind::real, 15},
    FieldRule{"gsa.hdop", plain, Kind::real, 16},
    FieldRule{"gsa.vdop", plain, Kind::real, 17},
};
constexpr std::array hdt{FieldRule{"hdt.heading", degrees, Kind::real, 1}};
constexpr std::array hdm{FieldRule{"hdm.heading", degrees, Kind::real, 1}};
constexpr std::array hdg{
    FieldRule{"hdg.heading", degrees, Kind::real, 1},
    FieldRule{"hdg.deviation", degrees, Kind::east_or_west, 2},
    FieldRule{"hdg.variation", degrees, Kind::east_or_west, 4},
};
constexpr std::array rot{FieldRule{"rot.rate", "deg/min", Kind::real, 1, true}};
constexpr std::array dbt{FieldRule{"dbt.depth", meters, Kind::feet_or_meters, 1}};
constexpr std::array dpt{
    FieldRule{"dpt.depth", meters, Kind::real, 1},
    FieldRule{"dpt.offset", meters, Kind::real, 2},
};
constexpr std::array mtw{FieldRule{"mtw.temperature", "Cel", Kind::real, 1}};
constexpr std::array vhw{
    FieldRule{"vhw.heading", degrees, Kind::real, 1},
    FieldRule{"vhw.heading_magnetic", degrees, Kind::real, 3},
    FieldRule{"vhw.speed", speed, Kind::knots_or_kmh, 5},
};
constexpr std::array mwv_relative{
    FieldRule{"mwv.relative.angle", degrees, Kind::real, 1, true},
    FieldRule{"mwv.relative.speed", speed, Kind::speed_and_unit, 3, true},
};
constexpr std::array mwv_true{
    FieldRule{"mwv.true.angle", degrees, Kind::real, 1, true},
    FieldRule{"mwv.true.speed", speed, Kind::speed_and_unit, 3, true},
};
constexpr std::array zda{
    FieldRule{"zda.time", none, Kind::time, 1},
    FieldRule{"zda.date", none, Kind::date_in_parts, 2},
};

constexpr std::array rules{
    SentenceRule{.type = "GGA", .fields_min = 12, .fields = gga, .validity = Validity::quality, .validity_index = 6},
    SentenceRule{.type = "RMC", .fields_min = 12, .fields = rmc, .validity = Validity::flag, .validity_index = 2},
    SentenceRule{.type = "VTG", .fields_min = 9, .fields = vtg},
    SentenceRule{.type = "GLL", .fields_min = 7, .fields = gll, .validity = Validity::flag, .validity_index = 6},
    SentenceRule{.type = "GSA", .fields_min = 18, .fields = gsa},
    SentenceRule{.type = "HDT", .fields_min = 3, .fields = hdt},
    SentenceRule{.type = "HDM", .fields_min = 3, .fields = hdm},
    SentenceRule{.type = "HDG", .fields_min = 6, .fields = hdg},
    SentenceRule{.type = "ROT", .fields_min = 3, .fields = rot, .validity = Validity::flag, .validity_index = 2},
    SentenceRule{.type = "DBT", .fields_min = 5, .fields = dbt},
    SentenceRule{.type = "DPT", .fields_min = 3, .fields = dpt},
    SentenceRule{.type = "MTW", .fields_min = 3, .fields = mtw},
    SentenceRule{.type = "VHW", .fields_min = 9, .fields = vhw},
    SentenceRule{.type = "MWV", .fields_min = 6, .fields = mwv_relative, .validity = Validity::flag,
                 .validity_index = 5, .variant = "R", .variant_index = 2},
    SentenceRule{.type = "MWV", .fields_min = 6, .fields = mwv_true, .validity = Validity::flag,
                 .validity_index = 5, .variant = "T", .variant_index = 2},
    SentenceRule{.type = "ZDA", .fields_min = 5, .fields = zda},
};
// clang-format on

using Parts = std::span<const std::string_view>;
using Value = std::optional<FieldValue>;

constexpr double meters_per_second_per_knot = 1852.0 / 3600.0;
constexpr double meters_per_second_per_kmh = 1.0 / 3.6;
constexpr double meters_per_second_per_mph = 0.44704;
constexpr double meters_per_foot = 0.3048;
constexpr double minutes_per_degree = 60.0;

const Value no_value = FieldValue{};

std::string_view part(Parts parts, std::size_t index) noexcept {
    return index < parts.size() ? parts[index] : std::string_view();
}

bool has_value(const Value& value) noexcept {
    return value && !std::holds_alternative<std::monostate>(*value);
}

/// Returns a real number regardless of its notation, so that its channel has one type.
Value to_real(std::string_view word, double factor = 1.0) noexcept {
    Value value = number_of(word);
    if (value && std::holds_alternative<std::int64_t>(*value)) {
        value = FieldValue{static_cast<double>(std::get<std::int64_t>(*value))};
    }
    if (!has_value(value)) {
        return value;
    }
    const double* const real = std::get_if<double>(&*value);
    return real == nullptr ? no_value : Value(FieldValue{*real * factor});
}

Value to_integer(std::string_view word) noexcept {
    const Value value = number_of(word);
    return !has_value(value) || std::holds_alternative<std::int64_t>(*value) ? value : std::nullopt;
}

Value to_flag(std::string_view word) noexcept {
    if (word.empty()) {
        return no_value;
    }
    return word == "A" || word == "V" ? Value(FieldValue{word == "A"}) : std::nullopt;
}

/// Returns the sign for one of two letters.
std::optional<double> to_sign(std::string_view word, char plus, char minus) noexcept {
    if (word.size() != 1 || (word[0] != plus && word[0] != minus)) {
        return std::nullopt;
    }
    return word[0] == plus ? 1.0 : -1.0;
}

Value with_sign(const Value& value, std::optional<double> sign) noexcept {
    if (!has_value(value)) {
        return value;
    }
    return sign ? Value(FieldValue{std::get<double>(*value) * *sign}) : std::nullopt;
}

/// dddmm.mmmm: the last two digits before the point and the fraction are minutes.
Value to_angle(std::string_view word, double degrees_max) noexcept {
    constexpr std::size_t minute_digits = 2;
    if (word.empty()) {
        return no_value;
    }
    const std::size_t point = std::min(word.find('.'), word.size());
    const bool is_plain = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (!is_plain || point <= minute_digits) {
        return std::nullopt;
    }
    const Value whole_degrees = to_real(word.substr(0, point - minute_digits));
    const Value minutes = to_real(word.substr(point - minute_digits));
    if (!has_value(whole_degrees) || !has_value(minutes) || std::get<double>(*minutes) >= minutes_per_degree) {
        return std::nullopt;
    }
    const double angle = std::get<double>(*whole_degrees) + std::get<double>(*minutes) / minutes_per_degree;
    return angle <= degrees_max ? Value(FieldValue{angle}) : std::nullopt;
}

/// Parses a number with exactly `digits` digits, from `min` to `max`.
std::optional<unsigned> to_ordinal(std::string_view word, std::size_t digits, unsigned min, unsigned max) noexcept {
    const auto number = parse_number<unsigned>(word);
    return number && word.size() == digits && *number >= min && *number <= max ? number : std::nullopt;
}

/// Converts hhmmss with optional fractional seconds to hh:mm:ss.sss.
Value to_time(std::string_view word, LineFields& fields) {
    constexpr std::size_t whole_digits = 6;
    constexpr unsigned second_max = 60;  // a leap second
    if (word.empty()) {
        return no_value;
    }
    if (word.size() < whole_digits) {
        return std::nullopt;
    }
    const std::string_view rest = word.substr(whole_digits);
    const bool is_plain = rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789", 1) == rest.npos);
    if (!is_plain || !to_ordinal(word.substr(0, 2), 2, 0, 23) || !to_ordinal(word.substr(2, 2), 2, 0, 59) ||
        !to_ordinal(word.substr(4, 2), 2, 0, second_max)) {
        return std::nullopt;
    }
    fields.append(word.substr(0, 2));
    fields.append(':');
    fields.append(word.substr(2, 2));
    fields.append(':');
    fields.append(word.substr(4));
    return FieldValue{fields.take_text()};
}

struct DateWords {
    std::string_view day;
    std::string_view month;
    std::string_view century;  // "" if it is part of the year
    std::string_view year;
};

Value to_date(const DateWords& words, LineFields& fields) {
    const bool has_year = to_ordinal(words.year, words.century.empty() ? 4 : 2, 0, 9'999).has_value();
    if (!has_year || !to_ordinal(words.day, 2, 1, 31) || !to_ordinal(words.month, 2, 1, 12)) {
        return std::nullopt;
    }
    fields.append(words.century);
    fields.append(words.year);
    fields.append('-');
    fields.append(words.month);
    fields.append('-');
    fields.append(words.day);
    return FieldValue{fields.take_text()};
}

/// Parses ddmmyy. Years 80 to 99 are 19yy: GPS began in 1980.
Value to_short_date(std::string_view word, LineFields& fields) {
    constexpr std::size_t digits = 6;
    if (word.empty()) {
        return no_value;
    }
    if (word.size() != digits) {
        return std::nullopt;
    }
    return to_date({word.substr(0, 2), word.substr(2, 2), word[4] >= '8' ? "19" : "20", word.substr(4)}, fields);
}

Value to_date_in_parts(Parts parts, LineFields& fields) {
    if (part(parts, 0).empty() && part(parts, 1).empty() && part(parts, 2).empty()) {
        return no_value;
    }
    return to_date({part(parts, 0), part(parts, 1), {}, part(parts, 2)}, fields);
}

Value to_speed(std::string_view word, std::string_view unit) noexcept {
    if (word.empty()) {
        return no_value;
    }
    if (unit == "M") {
        return to_real(word);
    }
    const double factor = unit == "K"   ? meters_per_second_per_kmh
                          : unit == "N" ? meters_per_second_per_knot
                          : unit == "S" ? meters_per_second_per_mph
                                        : 0.0;
    return factor > 0 ? to_real(word, factor) : std::nullopt;
}

}  // namespace

std::span<const SentenceRule> sentences() noexcept {
    return rules;
}

std::optional<FieldValue> to_value(Kind kind, std::span<const std::string_view> parts, LineFields& fields) {
    constexpr double latitude_max = 90.0;
    constexpr double longitude_max = 180.0;
    const std::string_view word = part(parts, 0);
    const std::string_view next = part(parts, 1);
    const std::string_view third = part(parts, 2);
    switch (kind) {
        case Kind::real: return to_real(word);
        case Kind::integer: return to_integer(word);
        case Kind::text: return word.empty() ? no_value : Value(FieldValue{word});
        case Kind::flag: return to_flag(word);
        case Kind::latitude: return with_sign(to_angle(word, latitude_max), to_sign(next, 'N', 'S'));
        case Kind::longitude: return with_sign(to_angle(word, longitude_max), to_sign(next, 'E', 'W'));
        case Kind::east_or_west: return with_sign(to_real(word), to_sign(next, 'E', 'W'));
        case Kind::time: return to_time(word, fields);
        case Kind::date: return to_short_date(word, fields);
        case Kind::date_in_parts: return to_date_in_parts(parts, fields);
        case Kind::knots: return to_real(word, meters_per_second_per_knot);
        case Kind::speed_and_unit: return to_speed(word, next);
        case Kind::knots_or_kmh:
            return word.empty() ? to_real(third, meters_per_second_per_kmh) : to_real(word, meters_per_second_per_knot);
        case Kind::feet_or_meters: return third.empty() ? to_real(word, meters_per_foot) : to_real(third);
    }
    return std::nullopt;
}

}  // namespace telegate::nmea
