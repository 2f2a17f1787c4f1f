#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// The sentences of NMEA 0183 that become channels, as tables of their fields.
namespace telegate::nmea {

/// What a field holds. `+1`, `+2`: what the fields after it add.
enum class Kind : std::uint8_t {
    real,
    integer,
    text,
    flag,            // A: true, V: false
    latitude,        // ddmm.mmmm, +1: N or S
    longitude,       // dddmm.mmmm, +1: E or W
    east_or_west,    // degrees, +1: E or W, which is negative
    time,            // hhmmss.sss
    date,            // ddmmyy
    date_in_parts,   // dd, +1: mm, +2: yyyy
    knots,           // a speed
    knots_or_kmh,    // +2: the same in km/h, for where there are no knots
    speed_and_unit,  // +1: K (km/h), M (m/s), N (knots) or S (miles/h)
    feet_or_metres,  // +2: the same in metres, which goes first
};

struct FieldRule {
    std::string_view name;
    std::string_view unit;
    Kind kind;
    std::uint8_t index;      // the address of the sentence is 0
    bool needs_fix = false;  // has no value while the sentence says that it is not valid
};

/// How a sentence says whether what it holds is valid.
enum class Validity : std::uint8_t { always, flag, quality };

struct SentenceRule {
    std::string_view type;
    std::size_t fields_min;  // with the address
    std::span<const FieldRule> fields;
    Validity validity = Validity::always;
    std::uint8_t validity_index = 0;
    std::string_view variant = {};  // what the field variant_index has to be, "" for anything
    std::uint8_t variant_index = 0;
};

[[nodiscard]] std::span<const SentenceRule> sentences() noexcept;

}  // namespace telegate::nmea
