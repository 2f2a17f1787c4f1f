#pragma once

#include "lines/line_parser.hpp"

#include <memory>

/// One factory for each kind of line; all throw std::invalid_argument for an invalid format.
namespace telegate {

[[nodiscard]] std::unique_ptr<LineParser> make_key_value_parser();
[[nodiscard]] std::unique_ptr<LineParser> make_csv_parser(const LineFormat& format);
[[nodiscard]] std::unique_ptr<LineParser> make_nmea_parser(bool checksum_required);
[[nodiscard]] std::unique_ptr<LineParser> make_regex_parser(const LineFormat& format);

}  // namespace telegate
