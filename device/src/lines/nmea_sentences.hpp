#pragma once

#include "lines/line_fields.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// The NMEA 0183 sentences that become channels, as tables of their fields.
namespace telegate::nmea {

/// The content of a field. `+1`, `+2`: meaning of the following fields.
enum class Kind : std::uint8_t {
    real,
    integer,
    text,
    flag,            // A: true, V: false
    latitude,        // ddmm.mmmm, +1: N or S
    longitude,       // dddmm.mmmm, +1: E or W
    east_or_west,    // degrees, +1: E or W; W is negative
    time,            // hhmmss.sss
    date,            // ddmmyy
    date_in_parts,   // dd, +1: mm, +2: yyyy
    knots,           // a speed
    knots_or_kmh,    // +2: the speed in km/h, used if the first field is empty
    speed_and_unit,  // +1: K (km/h), M (m/s), N (knots) or S (miles/h)
    feet_or_meters,  // +2: the depth in meters, which is preferred
};

struct FieldRule {
    std::string_view name;
    std::string_view unit;
    Kind kind;
    std::uint8_t index;      // index; 0 is the address of the sentence
    bool needs_fix = false;  // no value if the sentence is marked as not valid
};

/// How a sentence marks its content as valid.
enum class Validity : std::uint8_t { always, flag, quality };

struct SentenceRule {
    std::string_view type;
    std::size_t fields_min;  // including the address
    std::span<const FieldRule> fields;
    Validity validity = Validity::always;
    std::uint8_t validity_index = 0;
    std::string_view variant = {};  // required content of field variant_index, "" for any
    std::uint8_t variant_index = 0;
};

[[nodiscard]] std::span<const SentenceRule> sentences() noexcept;

/// Returns the value of the field of this kind at the front of `parts`. Missing and empty parts have no value. Returns
/// nullopt if the parts do not match the kind. Texts that are created are stored in `fields`.
[[nodiscard]] std::optional<FieldValue> to_value(Kind kind, std::span<const std::string_view> parts,
                                                 LineFields& fields);

}  // namespace telegate::nmea
