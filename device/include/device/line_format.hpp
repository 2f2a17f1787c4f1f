#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// How the lines of a device look. Each kind uses its own members only.
struct LineFormat {
    enum class Kind : std::uint8_t { key_value, csv, nmea, regex };
    Kind kind = Kind::key_value;
    /// csv: the names of the columns from the left, "-" for one that is skipped, "NAME[UNIT]" for one with a unit.
    std::vector<std::string> columns = {};
    char delimiter = ',';  // csv; any but a quote. Blanks in a row are one delimiter.
    /// regex: RE2 syntax, may match anywhere in the line. Each named group, (?P<name>...), is a field.
    std::string pattern = {};
    bool checksum_required = false;  // nmea: a sentence without a checksum is refused; a wrong one always is
};

/// What a device that prints lines may at most demand of us.
struct LineLimits {
    static constexpr std::size_t line_bytes_least = 16;
    static constexpr std::size_t line_bytes_most = 65'536;
    static constexpr std::size_t channels_most = 4'096;

    std::size_t line_bytes_max = 1'024;  // without the line end; a longer line is dropped whole and counted
    std::size_t channels_max = 256;      // names of fields; others give no samples and are counted
};

}  // namespace telegate
