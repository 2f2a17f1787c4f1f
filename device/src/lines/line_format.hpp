#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// The format of the lines of a device. Each kind uses only its own members.
struct LineFormat {
    enum class Kind : std::uint8_t { key_value, csv, nmea, regex };
    Kind kind = Kind::key_value;
    /// csv: the names of the columns from the left; "-" skips a column, "NAME[UNIT]" sets a unit.
    std::vector<std::string> columns = {};
    char delimiter = ',';  // csv; any character but a quote. Consecutive blanks are one delimiter.
    /// regex: RE2 syntax; may match anywhere in the line. Each named group, (?P<name>...), is a field.
    std::string pattern = {};
    bool checksum_required = false;  // nmea: refuse a sentence without a checksum; a wrong checksum is always refused
};

/// Limits for a device that sends lines.
struct LineLimits {
    std::size_t line_bytes_max = 1'024;  // without the line end; a longer line is dropped and counted
    std::size_t channels_max = 256;      // field names; fields with additional names are dropped and counted
};

}  // namespace telegate
