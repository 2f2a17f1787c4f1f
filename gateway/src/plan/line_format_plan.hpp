#pragma once

#include "device/line_format.hpp"

#include <string_view>

namespace telegate {

/// What the settings of several drivers say of the lines that a device writes.
template <class DriverSettings>
[[nodiscard]] LineFormat to_line_format(const DriverSettings& from) {
    using Kind = LineFormat::Kind;
    const std::string_view kind = from.format;
    const std::string_view delimiter = from.delimiter;
    LineFormat format;
    format.kind = kind == "csv"     ? Kind::csv
                  : kind == "nmea"  ? Kind::nmea
                  : kind == "regex" ? Kind::regex
                                    : Kind::key_value;
    format.delimiter = delimiter == "semicolon" ? ';'
                       : delimiter == "tab"     ? '\t'
                       : delimiter == "blank"   ? ' '
                       : delimiter == "bar"     ? '|'
                       : delimiter == "colon"   ? ':'
                                                : ',';
    format.columns = from.columns;
    format.pattern = from.pattern;
    format.checksum_required = from.checksum_required;
    return format;
}

}  // namespace telegate
