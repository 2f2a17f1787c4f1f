#include "lines/nmea_sentences.hpp"

#include <array>

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

}  // namespace

std::span<const SentenceRule> sentences() noexcept {
    return rules;
}

}  // namespace telegate::nmea
